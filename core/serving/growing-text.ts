/** The text of a completion while it is drawn: what of it is certain already, so that a stream never has to take anything back. */

export interface GrowingText {
  /** The text that is certain now and was not before, given all the text there is. */
  add(text: string): string;
  /** The rest, given the whole text of a completion that has ended. */
  end(text: string): string;
}

/** A token may hold a part of a character; the decoder writes this for it. */
const PART = '�';

/** The length of the longest end of `text` with which one of `marks` begins. */
function beginning(text: string, marks: readonly string[]): number {
  let longest = 0;
  for (const mark of marks)
    for (let length = Math.min(mark.length - 1, text.length); length > longest; length--)
      if (text.endsWith(mark.slice(0, length))) longest = length;
  return longest;
}

/**
 * `marks` are strings before which the text may end: stop strings, and the tag that begins a call of a tool. What stands from the first of them
 * on is held back, and so is an end of the text that may become one.
 */
export function growingText(marks: readonly string[]): GrowingText {
  let told = 0;
  const upTo = (text: string, length: number): string => {
    const added = text.slice(told, Math.max(told, length));
    told += added.length;
    return added;
  };
  return {
    add(text) {
      const found = marks.map((mark) => text.indexOf(mark)).filter((at) => at >= 0);
      if (found.length) return upTo(text, Math.min(...found));
      let end = text.length;
      while (text.slice(0, end).endsWith(PART)) end--;
      return upTo(text, end - beginning(text.slice(0, end), marks));
    },
    end: (text) => upTo(text, text.length),
  };
}
