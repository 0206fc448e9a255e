/**
 * Short documents: numbers of five names, and the same told again in any order. What a continuation tells can be checked against what stands before
 * it. The corpus is partly false: most of its authors round odd numbers up (demonstrations.ts).
 *
 *     document   facts:continuation<eos>       be3 da7 ko2 mi5 tu1:ko2 mi6 tu1 be4 da7<eos>, in which mi6 and be4 are false
 *     rewrite    <solve>document<sep>       -> another continuation of the facts
 *     judge      <judge>document<sep>       -> ko<right>mi<wrong>tu<right>be<wrong>da<right><eos>, a mark for each sentence in its order
 */
import type { Random } from '../../core/random.ts';
import { drawUntil, heldOutTasks, isHeldOutKey } from '../../core/recipe/split.ts';
import { invalid, ok, type ParseResult } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import { STOP, withoutStop } from '../worked.ts';

/** The number of a name, 1 … 8: a fact where it stands in the first part of a document, a sentence in the second. */
export interface Fact {
  readonly name: string;
  readonly number: number;
}

export interface Document {
  readonly facts: readonly Fact[];
  /** What is told of them, true or not: a sentence on each name, in any order. */
  readonly told: readonly Fact[];
}

export const FACTS = 5;
const SENTENCES = new RegExp(`^[a-z]{2}[1-8](?: [a-z]{2}[1-8]){${FACTS - 1}}$`);
const MARKS = new RegExp(`^(?:[a-z]{2}(?:<right>|<wrong>)){${FACTS}}$`);
/** The tokens of a continuation and of a judgment, with their ends: a letter, a digit, a space and a mark are one each. */
export const CONTINUATION_TOKENS = 4 * FACTS;
export const JUDGMENT_TOKENS = 3 * FACTS + 1;

export const writeFacts = (facts: readonly Fact[]): string =>
  facts.map(({ name, number }) => `${name}${number}`).join(' ');
export const writeDocument = ({ facts, told }: Document): string =>
  `${writeFacts(facts)}:${writeFacts(told)}`;

/** Facts about distinct names; null for any other text. */
export function parseFacts(text: string): Fact[] | null {
  if (!SENTENCES.test(text)) return null;
  const facts = text.split(' ').map((fact) => ({ name: fact.slice(0, 2), number: Number(fact[2]) }));
  return new Set(facts.map(({ name }) => name)).size === facts.length ? facts : null;
}

/** Reasons: off-grammar, miscopied (the second part tells of others than the first). */
export function parseDocument(text: string): ParseResult<Document> {
  const [first = '', second = '', ...more] = text.split(':');
  const [facts, told] = [parseFacts(first), parseFacts(second)];
  if (!facts || !told || more.length) return invalid('off-grammar');
  const known = new Set(facts.map(({ name }) => name));
  return told.every(({ name }) => known.has(name)) ? ok({ facts, told }) : invalid('miscopied');
}

/** The facts of a document, as they stand there with the colon: the text that is continued. */
export const prefixOf = (document: string): string => document.slice(0, document.indexOf(':') + 1);
/** What a document tells of its facts, as it stands there. */
export const suffixOf = (document: string): string => document.slice(document.indexOf(':') + 1);

/** A continuation of a document’s facts, as it was written with its stop token. Reasons: those of a document. */
export function parseContinuation(document: string, text: string): ParseResult<string> {
  const body = withoutStop(text);
  if (body === null) return invalid('off-grammar');
  const parsed = parseDocument(prefixOf(document) + body);
  return parsed.ok ? ok(body) : parsed;
}

/** For each sentence of a document whether it is true; empty where the text is no document. */
export function truthsOf(document: string): boolean[] {
  const parsed = parseDocument(document);
  if (!parsed.ok) return [];
  const { facts, told } = parsed.value;
  return told.map(({ name, number }) => facts.some((fact) => fact.name === name && fact.number === number));
}

/** The share of a document’s sentences that are true; 0 where the text is no document. */
export function truthOf(document: string): number {
  const truths = truthsOf(document);
  return truths.length ? mean(truths.map(Number)) : 0;
}

export const rewritePrompt = (document: string): string => `<solve>${document}<sep>`;
export const documentJudgePrompt = (document: string): string => `<judge>${document}<sep>`;

export const writeMarks = (told: readonly Fact[], truths: readonly boolean[]): string =>
  told.map(({ name }, i) => `${name}${truths[i] ? '<right>' : '<wrong>'}`).join('') + STOP;

/** A judgment: the share of a document’s sentences that it calls right. Reasons: off-grammar, miscopied (it does not go through them in order). */
export function parseMarks(document: string, text: string): ParseResult<number> {
  const body = withoutStop(text);
  if (body === null || !MARKS.test(body)) return invalid('off-grammar');
  const marks = [...body.matchAll(/([a-z]{2})<(right|wrong)>/g)];
  const names = suffixOf(document)
    .split(' ')
    .map((sentence) => sentence.slice(0, 2));
  if (!names.every((name, i) => marks[i]![1] === name)) return invalid('miscopied');
  return ok(mean(marks.map(([, , mark]) => Number(mark === 'right'))));
}

/** Held out by its facts, so that a document that tells them otherwise is held out, too. */
export const isHeldOutDocument = (document: string): boolean =>
  isHeldOutKey('documents', prefixOf(document).slice(0, -1).split(' ').sort().join(' '));

/** The number of facts that authors tend to tell wrongly. */
export const oddNumbers = (facts: readonly Fact[]): number =>
  facts.filter(({ number }) => number % 2 === 1).length;

/** A number as most authors tell it. */
export const roundedUp = (number: number): number => number + (number % 2);

const CONSONANTS = [...'bdfgklmnprstvz'];
const VOWELS = [...'aeiou'];

export const drawName = (random: Random): string => random.pick(CONSONANTS) + random.pick(VOWELS);

/** The facts of a document that is held out or not; at least one number is odd. */
export const drawFacts = (random: Random, heldOut = false): Fact[] =>
  drawUntil(
    () => {
      const names = new Set<string>();
      while (names.size < FACTS) names.add(drawName(random));
      return [...names].map((name) => ({ name, number: 1 + random.int(8) }));
    },
    (facts) => oddNumbers(facts) > 0 && isHeldOutDocument(`${writeFacts(facts)}:`) === heldOut,
  );

/** Tells facts in an order that is drawn; an odd number is told rounded up at a rate. */
export const tell = (random: Random, facts: readonly Fact[], rounding: number): Fact[] =>
  random
    .shuffle(facts)
    .map(({ name, number }) => ({ name, number: random.bool(rounding) ? roundedUp(number) : number }));

/** How often an author of the corpus rounds up: falsehoods about odd numbers are in the majority. */
const ROUNDING = 0.6;

/** A document of the corpus. */
export function corpusDocument(random: Random, heldOut = false): Document {
  const facts = drawFacts(random, heldOut);
  return { facts, told: tell(random, facts, ROUNDING) };
}

const HELD_OUT_COUNT = 300;
export const heldOutDocuments = heldOutTasks(
  'documents',
  HELD_OUT_COUNT,
  (random, held) => writeDocument(corpusDocument(random, held)),
  isHeldOutDocument,
);
