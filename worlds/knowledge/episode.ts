/**
 * Search episodes in a world: questions that are drawn by side of the split, the strict grammar of a turn, and the exact checks that a proposer’s
 * question must pass (Search Self-Play, 2025), among them that the documents that it read answer it.
 *
 *     turn   (<step>thought)? ( <step>?query<eos>  |  <answer>name<eos> )
 */
import { Random } from '../../core/random.ts';
import { drawUntil, isHeldOutKey } from '../../core/recipe/split.ts';
import type { ParseResult } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { Graph, hopsOf, MAX_HOPS, parseQuestion, type Question, writeQuestion } from './question.ts';
import { SearchIndex } from './search.ts';
import {
  drawWorld,
  parseDocument,
  RELATION_NAMES,
  RELATIONS,
  type Relation,
  type World,
  type WorldSize,
} from './world.ts';

/** Everything about one world that a recipe needs. */
export interface Knowledge {
  readonly world: World;
  readonly graph: Graph;
  readonly index: SearchIndex;
}

export function knowledgeOf(seed: string, size?: WorldSize): Knowledge {
  const world = drawWorld(seed, size);
  return { world, graph: new Graph(world.triples), index: new SearchIndex(world.documents) };
}

let world: Knowledge | undefined;
/** The world that recipes search, which is not one of the warm start's. */
export function theWorld(): Knowledge {
  world ??= knowledgeOf('search-self-play', { person: 120, town: 60, guild: 80, land: 40 });
  return world;
}

export type Turn = { readonly kind: 'search' | 'answer'; readonly text: string };

const TURN = /^(?:<step>[^<>?]{1,120})?(?:<step>\?([a-z0-9 ]{1,120})<eos>|<answer>([a-z]{1,20})<eos>)$/;

/** One turn of a search episode. */
export function parseTurn(text: string): ParseResult<Turn> {
  const match = TURN.exec(text);
  if (!match) return invalid('off-grammar');
  if (match[2] !== undefined) return ok({ kind: 'answer', text: match[2] });
  return match[1]!.trim() === '' ? invalid('empty-query') : ok({ kind: 'search', text: match[1]! });
}

/** What a search found, as the page shows it. */
export const listFindings = (documents: readonly string[]): string => documents.join('\n') || 'nothing';

/** What the search tool gives back, as text to be masked out of the loss. */
export const writeFindings = (documents: readonly string[]): string => `${listFindings(documents)}<sep>`;

/** What somebody else found, as whoever searches reads it before the question. */
export const writeNotes = (texts: readonly string[]): string =>
  texts.map((text) => writeFindings([text])).join('');

/** The exact answer of a question; null where it is no question or has not exactly one. */
export function answerOf({ graph }: Knowledge, question: string): string | null {
  const parsed = parseQuestion(question);
  return parsed.ok && graph.isUnique(parsed.value) ? graph.answers(parsed.value)[0]! : null;
}

/** Whether a question is held out, in whatever order its conditions are. */
export function isHeldOutQuestion(question: string): boolean {
  const parsed = parseQuestion(question);
  if (!parsed.ok) return false;
  const { path, base } = parsed.value;
  if (typeof base === 'string') return isHeldOutKey('knowledge', question);
  const conditions = new Set(base.map(({ relation, object }) => `${relation} ${object}`));
  return isHeldOutKey('knowledge', `${path} ${[...conditions].sort()}`);
}

/** The fewest documents from which a question can be answered; 0 for text that is no question. */
export function questionDifficulty(question: string): number {
  const parsed = parseQuestion(question);
  return parsed.ok ? hopsOf(parsed.value) : 0;
}

/** A path of relations, outermost first, that fit each other. */
function drawPath(random: Random, hops: number): Relation[] {
  const path: Relation[] = [random.pick(RELATION_NAMES)];
  while (path.length < hops) {
    const [, kind] = RELATIONS[path[0]!];
    path.unshift(random.pick(RELATION_NAMES.filter((relation) => RELATIONS[relation][0] === kind)));
  }
  return path;
}

export interface QuestionSettings {
  /** Least and most relations on the path, within 1 … 4. */
  readonly hops: readonly [number, number];
  /** Probability that the base is a description by one or two conditions instead of a name. */
  readonly described: number;
  readonly heldOut: boolean;
}

/** A question with one answer, on the wanted side of the split, that does not contain its answer. */
export function drawQuestion(
  random: Random,
  knowledge: Knowledge,
  settings: Partial<QuestionSettings> = {},
): string {
  const { hops, described, heldOut } = { hops: [1, 3] as const, described: 0.2, heldOut: false, ...settings };
  const { names } = knowledge.world;
  return drawUntil(
    () => {
      const path = drawPath(random, Math.min(MAX_HOPS, hops[0] + random.int(hops[1] - hops[0] + 1)));
      const kind = RELATIONS[path.at(-1)!][0];
      const name = random.pick(names[kind]);
      if (!random.bool(described)) return writeQuestion({ path, base: name });
      // Not by the relation that is asked for: that would reveal the next entity on the path.
      const own = RELATION_NAMES.filter(
        (relation) => RELATIONS[relation][0] === kind && relation !== path.at(-1),
      );
      const base = random
        .shuffle(own)
        .slice(0, 2)
        .map((relation) => ({ relation, object: knowledge.graph.object(name, relation)! }));
      return writeQuestion({ path, base });
    },
    (question) => isHeldOutQuestion(question) === heldOut && admitQuestion(knowledge, question).ok,
  );
}

/** The checks of a proposed question that need no documents. Reasons: those of `parseQuestion`, not-unique, gives-away. */
export function admitQuestion(knowledge: Knowledge, text: string): ParseResult<Question> {
  const parsed = parseQuestion(text);
  if (!parsed.ok) return parsed;
  const answer = answerOf(knowledge, text);
  if (answer === null) return invalid('not-unique');
  return text.split(/[^a-z]+/).includes(answer) ? invalid('gives-away') : parsed;
}

/** Whether these documents alone are enough to answer the question, for an exact reader who does not search. */
export function supports(documents: readonly string[], question: string, answer: string): boolean {
  const parsed = parseQuestion(question);
  if (!parsed.ok) return false;
  const triples = documents.map(parseDocument).filter((triple) => triple !== null);
  const found = new Graph(triples).answers(parsed.value);
  return found.length === 1 && found[0] === answer;
}

/** Every question with so many relations from a name, on one side of the split, that does not contain its answer. */
export function pathQuestions(knowledge: Knowledge, hops: number, heldOut: boolean): string[] {
  let asked: { path: Relation[]; base: string }[] = knowledge.world.triples.map(({ subject, relation }) => ({
    path: [relation],
    base: subject,
  }));
  for (let hop = 1; hop < hops; hop++)
    asked = asked.flatMap(({ path, base }) => {
      const [, kind] = RELATIONS[path[0]!];
      const next = RELATION_NAMES.filter((relation) => RELATIONS[relation][0] === kind);
      return next.map((relation) => ({ path: [relation, ...path], base }));
    });
  return asked
    .map(writeQuestion)
    .filter((question) => isHeldOutQuestion(question) === heldOut && admitQuestion(knowledge, question).ok);
}

/** Held-out questions of a world, the same for the same seed. */
export function heldOutQuestions(knowledge: Knowledge, seed: string, count: number): string[] {
  const random = new Random(`knowledge/held-out/${seed}`);
  const questions = new Set<string>();
  while (questions.size < count) questions.add(drawQuestion(random, knowledge, { heldOut: true }));
  return [...questions];
}
