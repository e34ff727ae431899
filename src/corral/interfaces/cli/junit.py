"""The report of a run for CI systems: one test case for each task."""

from xml.etree import ElementTree

from corral.core.show.outlook import Lot, RunReport
from corral.core.text import shown


def junit(told: RunReport) -> bytes:
    """Return the report as JUnit XML: a finished task passed, a waiting one was skipped."""
    waiting = [task for task in told.tasks if task.lot not in (Lot.OVER, Lot.FAILED)]
    suite = ElementTree.Element(
        "testsuite",
        name=f"corral {told.convoy}",
        tests=str(len(told.tasks)),
        failures=str(told.failed),
        errors="0",
        skipped=str(len(waiting)),
        time=f"{told.seconds:.3f}",
    )
    for task in told.tasks:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=told.convoy,
            name=shown(f"{task.id} {task.title}"),
            time=f"{task.seconds:.3f}",
        )
        # The words of engines may contain characters that XML cannot.
        reason = shown(task.reason or task.state)
        if task.lot is Lot.FAILED:
            ElementTree.SubElement(case, "failure", message=reason, type=task.verdict or "failed")
        elif task.lot is not Lot.OVER:
            ElementTree.SubElement(case, "skipped", message=reason)
    written: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return written
