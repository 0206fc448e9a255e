/** Writes `/metrics` in Prometheus' text format. Pure: it takes figures and returns text. */
export interface Metric {
  /** The unit is the name's suffix, by Prometheus' conventions. */
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly values: readonly {
    readonly labels?: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

const escapeLabel = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const labelText = (labels: Readonly<Record<string, string>> = {}) => {
  const parts = Object.entries(labels).map(([key, value]) => `${key}="${escapeLabel(value)}"`);
  return parts.length ? `{${parts.join(',')}}` : '';
};

/** A metric without values keeps its HELP and TYPE, so that a dashboard knows it exists. */
export const prometheusText = (metrics: readonly Metric[]): string =>
  metrics
    .map(({ name, type, help, values }) =>
      [
        `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
        `# TYPE ${name} ${type}`,
        ...values.map(({ labels, value }) => `${name}${labelText(labels)} ${value}`),
        '',
      ].join('\n'),
    )
    .join('');
