/** Structured logs: one JSON object a line, with the ids that let a round be followed through all Workers. Nothing secret goes in. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export function log(level: 'info' | 'warn' | 'error', event: string, fields: LogFields = {}): void {
  console[level](JSON.stringify({ level, event, ...fields }));
}
