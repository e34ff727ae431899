"""A run's report for CI systems: one test case for each task."""

from xml.etree import ElementTree

from corral.core.whole import Lot, Report


def junit(told: Report) -> bytes:
    waiting = [task for task in told.tasks if task.lot not in (Lot.OVER, Lot.FAILED)]
    suite = ElementTree.Element(
        "testsuite",
        name=f"corral {told.convoy}",
        tests=str(len(told.tasks)),
        failures=str(told.failed),
        skipped=str(len(waiting)),
        time=f"{told.seconds:.3f}",
    )
    for task in told.tasks:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=told.convoy,
            name=f"{task.id} {task.title}",
            time=f"{task.seconds:.3f}",
        )
        if task.lot is Lot.FAILED:
            ElementTree.SubElement(case, "failure", message=task.reason, type=task.verdict)
        elif task.lot is not Lot.OVER:
            ElementTree.SubElement(case, "skipped", message=task.reason or task.state)
    written: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return written
