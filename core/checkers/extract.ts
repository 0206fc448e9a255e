/** The answer in what a model wrote: the whole text, or the part of it that is marked as the answer. */
import { wrongInput } from '../errors.ts';
import { invalid, ok, type ParseResult } from '../recipe/task-family.ts';
import { plainDigits } from './spelling.ts';

/** Where the brace at a position is closed; -1 where it is not. */
function closingBrace(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    // An escaped brace, as in a set, is content.
    if (text[i] === '\\') i++;
    else if (text[i] === '{') depth++;
    else if (text[i] === '}' && --depth === 0) return i;
  }
  return -1;
}

const COMMAND = /\\[A-Za-z]+/y;
const ONE_TOKEN = /[^\s{}\\$]+/y;

/** A command with the arguments that follow it, such as `\frac{1}{2}` and `\frac12`. */
function commandAt(text: string, start: number): string | null {
  COMMAND.lastIndex = start;
  const name = COMMAND.exec(text)?.[0];
  if (name === undefined) return null;
  let at = start + name.length;
  if (/^\\[dtc]?(?:frac|binom)$/.test(name) && /^\d\d/.test(text.slice(at, at + 2)))
    return `${name}${text.slice(at, at + 2)}`;
  while (text[at] === '{' || text[at] === '[') {
    const end = text[at] === '{' ? closingBrace(text, at) : text.indexOf(']', at);
    if (end < 0) return null;
    at = end + 1;
  }
  return text.slice(start, at);
}

/** The content of the balanced braces at a position, or the single token or command there; null where the text ends before that. */
function boxedAt(text: string, start: number): string | null {
  let at = start;
  while (text[at] === ' ') at++;
  if (text[at] === '{') {
    const end = closingBrace(text, at);
    return end < 0 ? null : text.slice(at + 1, end);
  }
  if (text[at] === '\\') return commandAt(text, at);
  ONE_TOKEN.lastIndex = at;
  return ONE_TOKEN.exec(text)?.[0] ?? null;
}

/** How many boxes are looked at, from the last one: each may cost the length of the text. */
const MOST_BOXES = 50;

/** The content of the last box that is whole and not empty; an empty one where there is no other. */
function boxed(text: string): string | null {
  const boxes = [...text.matchAll(/\\(?:boxed|fbox|framebox)(?![A-Za-z])/g)].slice(-MOST_BOXES).reverse();
  let empty: string | null = null;
  for (const { index, 0: name } of boxes) {
    const content = boxedAt(text, index + name.length);
    if (content?.trim()) return content;
    empty ??= content;
  }
  return empty;
}

/** The text from the last `<answer>` that has one, to `</answer>` or to the end; the content of the box in it, where it has one. */
function tagged(text: string): string | null {
  const parts = text.split(/<answer(?:\s[^<>]{0,100})?>/i).slice(1);
  const contents = parts.map((part) => part.split(/<\/answer>/i, 1)[0]!.trim());
  const content = contents.findLast((part) => part !== '') ?? contents[0];
  return content === undefined ? null : boxed(content) || content;
}

/** What begins the next question where a model writes on after its answer. */
const NEXT_QUESTION =
  /\s(?:question|q|problem|human|user|instruction) ?\d* ?:|\n[ \t]*(?:question|q|problem|human|user|instruction) ?\d* ?\./i;
/** Tokens that end a text, where a tokenizer writes them out. */
const END_OF_TEXT = /<\|[a-z_]{1,40}\|>|<\/s>|<eos>/i;
const INTRODUCTION = /^(?:(?:the )?(?:final )?answer(?: is)?\s*:?\s+|=\s*)(?=\S)/i;
/** A line that begins with a number and is no numbered heading. */
const NUMBER_LINE = /^\W{0,5}\d(?!\d*[.):]\s+\S)/;

/**
 * The line after `####`, which marks the answer in GSM8K. A text that runs on may have other marks after it: the first line that begins with a number
 * is the answer, or else the last one before the next question.
 */
function afterHashes(text: string): string | null {
  const from = text.indexOf('####');
  if (from < 0) return null;
  const rest = text.slice(from).split(END_OF_TEXT, 1)[0]!;
  const next = NEXT_QUESTION.exec(rest);
  const own = next ? rest.slice(0, next.index) : rest;
  const lines = own
    .split('####')
    .slice(1)
    .map((part) => part.trim().split('\n', 1)[0]!.replace(INTRODUCTION, ''));
  return lines.find((line) => NUMBER_LINE.test(line)) ?? lines.at(-1)!;
}

/** Thousands with their separators, or digits alone. */
const THOUSANDS = String.raw`\d{1,3}(?:(?:,|\{,\}|,?\\[!,;: ]\s?|[ \u00a0\u2009\u202f'’_])\d{3}(?!\d))+`;
const EUROPEAN = String.raw`\d{1,3}(?:\.\d{3}){2,}(?!\d)(?:,\d+(?!\d))?`;
const WHOLE = String.raw`(?:${EUROPEAN}|\d{1,2}(?:,\d{2})+,\d{3}(?!\d)|${THOUSANDS}|\d+)`;
const DECIMAL = String.raw`(?:${WHOLE}(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?`;
const EXPONENT = String.raw`\s?\^\s?(?:\{\s?[-+−]?\d+\s?\}|[-+−]?\d+)|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+`;
const POWER_OF_TEN = String.raw`\s?(?:[×·*x]|\\times|\\cdot)\s?10(?:${EXPONENT})`;
const LATEX_FRACTION = String.raw`\\[dtc]?frac\s?(?:\{\s?-?\d+\s?\}\s?\{\s?\d+\s?\}|\d\s?\d)`;
const VULGAR = '[¼½¾⅐-⅞]';
const UNSIGNED = [
  String.raw`(?:\d+\s?)?(?:${LATEX_FRACTION}|${VULGAR})`,
  String.raw`\d+ \d+\s?\/\s?\d+`,
  String.raw`\d+(?:${EXPONENT})`,
  String.raw`${DECIMAL}(?:${POWER_OF_TEN}|\s?\/\s?\d+)?`,
].join('|');
/**
 * A number in running text. Its sign belongs to it unless something stands before that it is subtracted from. What is raised or lowered beside
 * something else, as in cm^2, is none.
 */
const NUMBERS = new RegExp(
  String.raw`(?:(?<![\d.,)\]}\w])[-+−]|\bnegative |(?<![\d)\]}]\s?)\bminus )?(?<![\^_]|[\^_]\{|[\^_]\{?[-+−]|\d|\d\.|\b(?:[mcdk]?m|ft|in|yd)(?=[23]\b))(?:\\?[$€£¥₹])?(?:${UNSIGNED})(?:\s?\\?%|\s(?:hundred(?!-)|thousand|million|billion|trillion|lakhs?|crores?)(?![a-z])|(?<=[$€£][\d.,]+)[MB](?![A-Za-z]))?`,
  'gi',
);

const lastNumber = (text: string): string | null => plainDigits(text).match(NUMBERS)?.at(-1) ?? null;

const EXTRACTORS = {
  boxed: { description: 'the content of the last \\boxed{…} or \\fbox{…}', find: boxed, reason: 'no-box' },
  answer: {
    description: 'what stands after the last <answer>, up to </answer>',
    find: tagged,
    reason: 'no-answer-tag',
  },
  hashes: { description: 'the line after ####', find: afterHashes, reason: 'no-hashes' },
  'last-number': { description: 'the last number', find: lastNumber, reason: 'no-number' },
  whole: { description: 'the whole text', find: (text: string): string | null => text, reason: 'empty' },
} as const;

export type Extraction = keyof typeof EXTRACTORS;
export const EXTRACTIONS = Object.keys(EXTRACTORS) as readonly Extraction[];

const isExtraction = (name: string): name is Extraction => EXTRACTIONS.some((known) => known === name);

/** Extractions by name, separated by commas, to be tried in that order. Throws `wrong-input` for an unknown name. */
export function parseExtractions(names: string): Extraction[] {
  return names.split(',').map((name) => {
    const trimmed = name.trim();
    if (isExtraction(trimmed)) return trimmed;
    throw wrongInput('answer.extraction', `There is no extraction ${JSON.stringify(trimmed)}.`, {
      expected: `one or more of ${EXTRACTIONS.join(', ')}, separated by commas`,
    });
  });
}

/** What stands before it was thought, and is no answer. */
const END_OF_THOUGHT = '</think>';

/** The first answer that is found, trimmed. `invalid` with the reason of the last extraction that was tried, or `empty` for an empty answer. */
export function extractAnswer(text: string, extractions: readonly Extraction[]): ParseResult<string, string> {
  let reason = 'empty';
  const thought = text.lastIndexOf(END_OF_THOUGHT);
  const said = thought < 0 ? text : text.slice(thought + END_OF_THOUGHT.length);
  for (const name of extractions) {
    const found = EXTRACTORS[name].find(name === 'answer' ? text : said)?.trim();
    if (found) return ok(found);
    reason = found === '' ? 'empty' : EXTRACTORS[name].reason;
  }
  return invalid(reason);
}
