/** Where traces and metrics are sent, from OpenTelemetry's own settings. */

export interface Telemetry {
  /** The base of the endpoint; `/v1/traces` and `/v1/metrics` are added to it. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Reads OpenTelemetry's own settings: `OTEL_EXPORTER_OTLP_ENDPOINT`, and `OTEL_EXPORTER_OTLP_HEADERS` as `name=value,name=value` with
 * percent-encoded values. Undefined where there is no endpoint.
 */
export function telemetryOf(
  endpoint: string | undefined,
  headers: string | undefined,
): Telemetry | undefined {
  if (!endpoint) return undefined;
  const pairs = (headers ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const];
  });
  return { endpoint: endpoint.replace(/\/+$/, ''), headers: Object.fromEntries(pairs) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
