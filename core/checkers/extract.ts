/** The answer in what a model wrote: the whole text, or the part of it that is marked as the answer. */
import { wrongInput } from '../errors.ts';
import { invalid, ok, type ParseResult } from '../recipe/task-family.ts';

/** The content of the balanced braces after `\boxed` at a position, or the single token there; null where the text ends before that. */
function boxedAt(text: string, start: number): string | null {
  let at = start;
  while (text[at] === ' ') at++;
  if (text[at] !== '{') return /^[^\s{}\\$]+/.exec(text.slice(at))?.[0] ?? null;
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    // An escaped brace, as in a set, is content.
    if (text[i] === '\\') i++;
    else if (text[i] === '{') depth++;
    else if (text[i] === '}' && --depth === 0) return text.slice(at + 1, i);
  }
  return null;
}

function boxed(text: string): string | null {
  for (let at = text.lastIndexOf('\\boxed'); at >= 0; at = at ? text.lastIndexOf('\\boxed', at - 1) : -1) {
    const content = boxedAt(text, at + '\\boxed'.length);
    if (content !== null) return content;
  }
  return null;
}

/** The text from the last `<answer>` to `</answer>`, or to the end. */
function tagged(text: string): string | null {
  const at = text.lastIndexOf('<answer>');
  if (at < 0) return null;
  const rest = text.slice(at + '<answer>'.length);
  const end = rest.indexOf('</answer>');
  return end < 0 ? rest : rest.slice(0, end);
}

/** The text after the last `####`, which marks the answer in GSM8K. */
function afterHashes(text: string): string | null {
  const at = text.lastIndexOf('####');
  return at < 0 ? null : text.slice(at + 4);
}

/** A number in running text; its sign belongs to it unless something stands before that it is subtracted from. */
const NUMBERS =
  /(?<![\d.,)\]}\w])[-+−]?[$€£¥]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[+-]?\d+)?(?:\s?\/\s?\d+)?(?:\s?%)?|(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:\s?\/\s?\d+)?(?:\s?%)?/gi;

const lastNumber = (text: string): string | null => text.match(NUMBERS)?.at(-1) ?? null;

const EXTRACTORS = {
  boxed: { description: 'the content of the last \\boxed{…}', find: boxed, reason: 'no-box' },
  answer: {
    description: 'what stands after the last <answer>, up to </answer>',
    find: tagged,
    reason: 'no-answer-tag',
  },
  hashes: { description: 'what stands after the last ####', find: afterHashes, reason: 'no-hashes' },
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

/** The first answer that is found, trimmed. `invalid` with the reason of the last extraction that was tried, or `empty` for an empty answer. */
export function extractAnswer(text: string, extractions: readonly Extraction[]): ParseResult<string, string> {
  let reason = 'empty';
  for (const name of extractions) {
    const found = EXTRACTORS[name].find(text)?.trim();
    if (found) return ok(found);
    reason = found === '' ? 'empty' : EXTRACTORS[name].reason;
  }
  return invalid(reason);
}
