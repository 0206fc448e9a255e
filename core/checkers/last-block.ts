/** Code in a model's text. */

const FENCE = /^[ \t]*```[ \t]*(\S*)[^\n]*$/;

/** The last block between fences that names one of the languages, or else the whole text. */
export function lastBlock(text: string, languages: ReadonlySet<string>): string {
  let code: string | undefined;
  let block: { readonly isCode: boolean; readonly lines: string[] } | undefined;
  const end = () => {
    if (block?.isCode) code = block.lines.join('\n');
    block = undefined;
  };
  for (const line of text.split('\n')) {
    const fence = FENCE.exec(line);
    if (!fence) block?.lines.push(line);
    else if (block) end();
    else block = { isCode: languages.has(fence[1]!.toLowerCase()), lines: [] };
  }
  end();
  return code ?? text;
}
