/** Breaks a text at its spaces into lines of at most `width` characters; a longer word stays whole, and so does "34 %". */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/ (?!%)/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
