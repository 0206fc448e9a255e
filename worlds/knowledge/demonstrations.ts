/**
 * Demonstrations of Search Self-Play’s roles, for the warm start. Each is from a small world of its own set, so that names have to be looked up and
 * are not learnt. Skilled roles ask about most of what they found and search to the end; other habits, which later warm starts teach, use less of
 * what the roles can do, so that training has something to improve. Held-out questions are left out.
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { drawQuestion, isHeldOutQuestion, type Knowledge, knowledgeOf, writeFindings } from './episode.ts';
import {
  ANSWER_KINDS,
  FINDINGS,
  MAX_SEARCHES,
  proposerPrompt,
  relationsTo,
  solverPrompt,
  writeAnswer,
  writeProposal,
  writeSearch,
} from './proposal.ts';
import { parseQuestion, writeQuestion } from './question.ts';
import { type Kind, parseDocument, RELATION_NAMES, RELATIONS, type Triple } from './world.ts';

const WORLDS = 64;
const SIZE = { person: 60, town: 30, guild: 40, land: 20 };
const PROPOSER_SHARE = 0.55;

export interface Habits {
  /** How often a proposer asks about the first 1, 2, 3 documents, as far as it has found them; the numbers need not sum to 1. */
  readonly uses: readonly number[];
  /** Share of proposals that ask for another relation than the one that was found. */
  readonly wrong: number;
  /** Probability that a solver takes what it found for the answer too early, after its first and after its second hop. */
  readonly stops: readonly number[];
}

/** Demonstrations of skilled roles: long questions are the most frequent, and no turn has an error. */
const SKILLED: Habits = { uses: [1, 2, 3], wrong: 0, stops: [0, 0] };

const worlds = new Map<number, Knowledge>();
export function someWorld(random: Random): Knowledge {
  const seed = random.int(WORLDS);
  const known = worlds.get(seed) ?? knowledgeOf(`warm-start/${seed}`, SIZE);
  worlds.set(seed, known);
  return known;
}

interface Trail {
  readonly answer: string;
  readonly kind: Kind;
  readonly queries: readonly string[];
  /**
   * Of the documents that the queries found, those that lead on: the first has the answer as its object, each other one the subject of the one
   * before.
   */
  readonly found: readonly Triple[];
}

/** Searches backwards from an answer, each by a relation whose object may be what was found last; some searches find no such document. */
function searchBack({ index }: Knowledge, random: Random, answer: string, kind: Kind): Trail {
  const searches = 1 + random.int(MAX_SEARCHES);
  const queries: string[] = [];
  const found: Triple[] = [];
  let at = { name: answer, kind };
  while (queries.length < searches) {
    const open = relationsTo(at.kind).filter((relation) => !queries.includes(`${relation} ${at.name}`));
    if (open.length === 0) break;
    const relation = random.pick(open);
    queries.push(`${relation} ${at.name}`);
    const triple = parseDocument(index.search(queries.at(-1)!, FINDINGS)[0] ?? '');
    if (triple?.relation !== relation || triple.object !== at.name) continue;
    found.push(triple);
    at = { name: triple.subject, kind: RELATIONS[relation][0] };
  }
  return { answer, kind, queries, found };
}

/** A trail that leads 1 … MAX_SEARCHES documents far, each length as often, and visits nothing twice. */
function someTrail(random: Random, knowledge: Knowledge): Trail {
  const far = 1 + random.int(MAX_SEARCHES);
  return drawUntil(
    () => {
      const kind = random.pick(ANSWER_KINDS);
      return searchBack(knowledge, random, random.pick(knowledge.world.names[kind]), kind);
    },
    ({ answer, found }) =>
      found.length === far && new Set([answer, ...found.map(({ subject }) => subject)]).size > found.length,
  );
}

const questionOf = (trail: readonly Triple[]): string =>
  writeQuestion({ path: trail.map(({ relation }) => relation), base: trail.at(-1)!.subject });

/** Alternating texts of an episode: prompt, turn, findings, turn, …; one of its turns after all before it. */
export function oneTurn(
  random: Random,
  role: Demonstration['role'],
  texts: readonly string[],
): Demonstration {
  const turn = 2 * random.int(texts.length / 2) + 1;
  return { role, prompt: texts.slice(0, turn).join(''), completion: texts[turn]! };
}

/** The question that a proposer asks about what it found: about the first documents, and sometimes for another relation. */
function proposal(random: Random, found: readonly Triple[], { uses, wrong }: Habits): string {
  const used = found.slice(0, 1 + random.weighted(uses.slice(0, found.length)));
  if (!random.bool(wrong)) return questionOf(used);
  const [last, ...others] = used;
  const [subject] = RELATIONS[last!.relation];
  const fits = RELATION_NAMES.filter((name) => RELATIONS[name][0] === subject && name !== last!.relation);
  return questionOf([{ ...last!, relation: random.pick(fits) }, ...others]);
}

function proposer(random: Random, knowledge: Knowledge, habits: Habits): Demonstration {
  const drawn = () => {
    const trail = someTrail(random, knowledge);
    return { ...trail, question: proposal(random, trail.found, habits) };
  };
  const { answer, kind, queries, question } = drawUntil(drawn, (it) => !isHeldOutQuestion(it.question));
  return oneTurn(random, 'proposer', [
    proposerPrompt(answer, kind, queries.length),
    ...queries.flatMap((query) => search(knowledge, query)),
    writeProposal(question),
  ]);
}

/** A search, and what it finds. */
export const search = ({ index }: Knowledge, query: string): string[] => [
  writeSearch(query),
  writeFindings(index.search(query, FINDINGS)),
];

/** A question of 1 … MAX_SEARCHES hops, and the triples on the way to its answer in order. */
export function someWay(random: Random, knowledge: Knowledge): { question: string; way: Triple[] } {
  const hops = 1 + random.int(MAX_SEARCHES);
  const question = drawQuestion(random, knowledge, { hops: [hops, hops], described: 0 });
  const parsed = parseQuestion(question);
  if (!parsed.ok) throw new Error(`internal: a drawn question is ${parsed.reason}`);
  const { path, base } = parsed.value;
  const way: Triple[] = [];
  let subject = String(base);
  for (const relation of [...path].reverse()) {
    const object = knowledge.graph.object(subject, relation)!;
    way.push({ subject, relation, object });
    subject = object;
  }
  return { question, way };
}

function solver(random: Random, knowledge: Knowledge, { stops }: Habits): Demonstration {
  const { question, way } = someWay(random, knowledge);
  const stop = way.findIndex((_, i) => i > 0 && random.bool(stops[i - 1]));
  const passed = way.slice(0, stop < 0 ? way.length : stop);
  const searches = passed.flatMap(({ relation, subject }) => search(knowledge, `${relation} ${subject}`));
  return oneTurn(random, 'solver', [solverPrompt(question), ...searches, writeAnswer(passed.at(-1)!.object)]);
}

export const demonstrateProposer = (random: Random, habits: Habits): Demonstration =>
  proposer(random, someWorld(random), habits);

export function demonstrateSearch(random: Random, habits: Habits): Demonstration {
  const role = random.bool(PROPOSER_SHARE) ? proposer : solver;
  return role(random, someWorld(random), habits);
}

export const demonstrateKnowledge = (random: Random): Demonstration => demonstrateSearch(random, SKILLED);
