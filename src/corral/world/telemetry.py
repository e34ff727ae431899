"""Sends traces to a collector by OTLP over HTTP, with the official SDK (`corral[otel]`).

Nothing else imports the SDK, and this module imports it only when there is something to send. The
SDK reads credentials for the collector from OTEL_EXPORTER_OTLP_HEADERS, never from a file.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from corral.core.errors import Failed
from corral.core.show.trace import Span, Trace

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan

_PATH = "/v1/traces"
_TIMEOUT_S = 10.0
_NANO = 1_000_000  # in a millisecond


def send(endpoint: str, traces: Sequence[Trace], repository: str) -> None:
    """Send all spans of some traces; raise Failed if the collector did not accept them."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace.export import SpanExportResult
    except ImportError as error:
        raise Failed("OpenTelemetry is not installed: pip install 'corral[otel]'") from error
    about = Resource({"service.name": "corral", "corral.repository": repository})
    spans = [_readable(trace, span, about) for trace in traces for span in trace.spans]
    address = endpoint.rstrip("/").removesuffix(_PATH) + _PATH
    exporter = OTLPSpanExporter(endpoint=address, timeout=_TIMEOUT_S)
    try:
        if exporter.export(spans) is not SpanExportResult.SUCCESS:
            raise Failed(f"the traces could not be sent to {endpoint}; sending is retried later")
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]


def _readable(trace: Trace, span: Span, about: "Resource") -> "ReadableSpan":
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

    def context(number: int) -> SpanContext:
        return SpanContext(trace.id, number, is_remote=False, trace_flags=TraceFlags(1))

    return ReadableSpan(
        name=span.name,
        context=context(span.id),
        parent=context(span.parent) if span.parent else None,
        resource=about,
        attributes=span.about,
        status=Status(StatusCode.OK if span.good else StatusCode.ERROR),
        start_time=span.began_at * _NANO,
        end_time=span.ended_at * _NANO,
        instrumentation_scope=InstrumentationScope("corral"),
    )
