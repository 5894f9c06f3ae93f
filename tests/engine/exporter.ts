import { Cause, Context, Exit, Logger, Metric, References, Tracer } from "effect";

/** What a tracer, a logger and a reader of metrics would have sent away. */
export const makeExporter = () => {
  const spans: Array<Tracer.NativeSpan> = [];
  const logs: Array<string> = [];
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options);
      spans.push(span);
      return span;
    },
  });
  const logger = Logger.make<unknown, void>(({ cause, fiber, message }) => {
    logs.push(
      JSON.stringify([
        message,
        Cause.pretty(cause),
        fiber.getRef(References.CurrentLogAnnotations),
      ]),
    );
  });
  const layer = Logger.layer([logger]);
  const exported = () =>
    JSON.stringify([
      logs,
      Metric.snapshotUnsafe(Context.empty()).map(({ attributes, description, id, state }) => [
        id,
        description,
        attributes,
        String(state),
      ]),
      spans.map((span) => [
        span.name,
        [...span.attributes],
        span.events,
        span.status._tag === "Ended" && Exit.isFailure(span.status.exit)
          ? Cause.pretty(span.status.exit.cause)
          : "",
      ]),
    ]);
  const toolSpans = () => spans.filter((span) => span.name.startsWith("execute_tool"));
  return { tracer, layer, logs, exported, toolSpans };
};
