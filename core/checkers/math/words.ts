/** Words around an answer: what introduces it is left out, comparisons in words become signs. */
import { allWords } from './brackets.ts';
import type { Token } from './token.ts';

export const RELATIONS: readonly string[] = ['=', '<', '≤', '>', '≥', '≠', '≈', '≡'];

/** What may stand before an answer and says no part of it. */
const LEADING =
  /^(?:so|thus|hence|therefore|then|therefore|because|implies|Rightarrow|Longrightarrow|rightarrow|to|[=⇒→∴:])$/;

type Words = readonly [words: string, sign: string];
const COMPARED: readonly Words[] = [
  ['greater than or equal to', '≥'],
  ['more than or equal to', '≥'],
  ['less than or equal to', '≤'],
  ['not equal to', '≠'],
  ['greater than', '>'],
  ['larger than', '>'],
  ['more than', '>'],
  ['less than', '<'],
  ['smaller than', '<'],
  ['fewer than', '<'],
  ['at least', '≥'],
  ['at most', '≤'],
  ['equal to', '='],
  ['equals', '='],
];
const ALL = /^(?:all|any|every)$/;
/** A symbol without a name: what "all numbers above 3" are. */
const NAMELESS: Token = { kind: 'letter', text: 'numbers', space: true };

/** Comparisons in words as signs: "x is greater than 3", "all real numbers at most 5", "all x such that x > 3". */
function withSigns(tokens: readonly Token[]): readonly Token[] {
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const found = COMPARED.find(([words]) =>
      words.split(' ').every((word, k) => tokens[i + k]?.kind === 'word' && tokens[i + k]!.text === word),
    );
    if (!found) out.push(tokens[i]!);
    else {
      while (/^(?:is|are|be|must|that)$/.test(out.at(-1)?.text ?? '')) out.pop();
      out.push({ kind: 'mark', text: found[1], space: true });
      i += found[0].split(' ').length - 1;
    }
  }
  // "x is 5"
  const verb = out.findIndex(({ kind }) => kind !== 'letter');
  if (verb > 0 && out[verb]!.text === 'is' && out[verb + 1] && out[verb + 1]!.kind !== 'word')
    out[verb] = { kind: 'mark', text: '=', space: true };
  const start = out.findIndex(({ kind, text }) => kind === 'word' && /^(?:that|where|which)$/.test(text));
  if (
    start > 0 &&
    ALL.test(out[0]!.text) &&
    out.slice(0, start).every(({ kind }) => /^(?:word|letter)$/.test(kind))
  )
    return out.slice(start + 1);
  const sign = out.findIndex(({ text }) => RELATIONS.includes(text) && text !== '=');
  const nameless = sign === 0 || (sign > 0 && allWords(out.slice(0, sign)) && ALL.test(out[0]!.text));
  return nameless && out[sign]!.text !== '≈' ? [NAMELESS, ...out.slice(sign)] : out;
}

/** Words that say that what follows is the answer: "The answer is", "Answer:", "Area is". */
const INTRODUCING = ['is', 'are', 'equals', 'answer', ':', 'about', 'approximately', 'roughly'];

/** The tokens of the answer alone. */
export function withoutIntroduction(given: readonly Token[]): readonly Token[] {
  const start = given.findIndex(({ text, kind }) => !(kind !== 'letter' && LEADING.test(text)));
  const rest = start > 0 ? given.slice(given[start]!.text === ',' ? start + 1 : start) : given;
  const tokens = withSigns(rest);
  // "The value of x is 5"; what is said in words is left whole.
  const verb = tokens.findLastIndex(({ kind, text }) => kind === 'word' && /^(?:is|are|equals)$/.test(text));
  const after = tokens[verb + 1];
  if (verb > 0 && tokens[0]!.kind === 'word' && after && after.kind !== 'word') return tokens.slice(verb + 1);
  // "the point (3, 5)"
  const noun = tokens.findIndex(({ kind }) => kind !== 'word');
  if (
    noun > 0 &&
    tokens[0]!.text === 'the' &&
    /^(?:points?|interval|set|vector|pair)$/.test(tokens[noun - 1]!.text)
  )
    return tokens.slice(noun);
  const end = tokens.findIndex(({ kind, text }) => kind !== 'word' && text !== ':');
  const introduced = end > 0 && INTRODUCING.includes(tokens[end - 1]!.text) && allWords(tokens.slice(0, 1));
  return introduced ? tokens.slice(end) : tokens;
}
