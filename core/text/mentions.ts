/** Whether a text has certain words in it, whatever their case and what stands between them. */

/** Letters and digits in lower case, word by word, with a space on both sides of each. */
const plain = (text: string): string =>
  ` ${(
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).join(' ')} `;

/** Words without letters and digits, such as "=", are looked for as they are. An empty text is mentioned nowhere. */
export function mentions(text: string, words: string): boolean {
  const wanted = plain(words);
  return wanted.trim() === ''
    ? words.trim() !== '' && text.includes(words.trim())
    : plain(text).includes(wanted);
}
