/**
 * The stages of a Dockerfile by their names, each as its instructions in their order; the last, which `docker build` makes, is `node`.
 *
 * @param {string} text
 * @returns {Record<string, [name: string, rest: string][]>}
 */
export function stagesOf(text) {
  /** @type {Record<string, [name: string, rest: string][]>} */
  const stages = {};
  let stage = '';
  for (const line of text.replaceAll('\\\n', '').split('\n')) {
    if (!line || line.startsWith('#')) continue;
    const [name = '', rest = ''] = line.split(/ (.*)/s);
    if (name === 'FROM') stage = / AS (\w+)$/.exec(rest)?.[1] ?? 'node';
    stages[stage] = [...(stages[stage] ?? []), [name, rest]];
  }
  return stages;
}
