/**
 * Demonstrations of Search Self-Play's roles, for the warm start. Each is from a small world of its own pool, so that names are
 * looked up and not learnt. They leave room to improve on purpose: proposers are lazy (they use only the first of the documents
 * that they were told to find) and sometimes wrong, solvers often stop before the last hop. Held-out questions are left out.
 */
import type { Random } from '../../random.ts';
import type { Demonstration } from '../demonstrations.ts';
import { isHeldOutQuestion, type Knowledge, knowledgeOf, writeFindings } from './episode.ts';
import {
  proposerPrompt,
  readerPrompt,
  solverPrompt,
  writeAnswer,
  writeProposal,
  writeSearch,
} from './proposal.ts';
import { writeQuestion } from './question.ts';
import { RELATION_NAMES, RELATIONS, type Relation, readDocument, type Triple } from './world.ts';

/** Documents a search gives: more would not fit three searches into the context. */
export const FINDINGS = 1;
/** Most searches a proposer is asked for, and hops a demonstrated question has. */
export const MAX_SEARCHES = 3;
/** Foreign documents between the reader's own. */
export const NOISE = 2;

const WORLDS = 64;
const SIZE = { person: 60, town: 40, guild: 24, land: 12 };
const SHARES = { proposer: 0.3, solver: 0.45, reader: 0.25 } as const;
/** Of 1, 2, 3 documents that a proposer uses, as far as it has them. */
const LAZY = [0.6, 0.25, 0.15];
/** Share of proposals with a wrong relation in them. */
const WRONG = 0.15;
/** Probability that a solver stops before a hop that is not its first. */
const STOPS_EARLY = 0.4;

const worlds = new Map<number, Knowledge>();
function someWorld(random: Random): Knowledge {
  const seed = random.int(WORLDS);
  const known = worlds.get(seed) ?? knowledgeOf(`warm-start/${seed}`, SIZE);
  worlds.set(seed, known);
  return known;
}

/** Triples found one after another, each by a search for what the one before has as its subject: the first has the answer as its object. */
export function traceBack(random: Random, { index }: Knowledge, answer: string, searches: number): Triple[] {
  const trail: Triple[] = [];
  let at = answer;
  for (const relation of random.shuffle([...RELATION_NAMES, ...RELATION_NAMES, ...RELATION_NAMES])) {
    if (trail.length === searches) break;
    const found = index.search(`${relation} ${at}`, FINDINGS)[0];
    const triple = found === undefined ? null : readDocument(found);
    if (triple?.relation !== relation || triple.object !== at) continue;
    trail.push(triple);
    at = triple.subject;
  }
  return trail;
}

interface Trail {
  readonly answer: string;
  /** From the answer backwards. */
  readonly found: readonly Triple[];
  /** How many of them, from the first, its question uses. */
  readonly used: number;
}

/** Documents that lead to an answer, and a question that uses some or all of them and is not held out. */
function someTrail(random: Random, knowledge: Knowledge, lazy: boolean): Trail {
  const { names } = knowledge.world;
  const searches = 1 + random.int(MAX_SEARCHES);
  for (;;) {
    const answer = random.pick(names[random.pick(['town', 'guild', 'land', 'person'] as const)]);
    const found = traceBack(random, knowledge, answer, searches);
    const passed = new Set([answer, ...found.map(({ subject }) => subject)]);
    if (found.length < searches || passed.size <= searches) continue;
    const used = lazy ? 1 + random.weighted(LAZY.slice(0, searches)) : searches;
    if (!isHeldOutQuestion(questionOf(found.slice(0, used)))) return { answer, found, used };
  }
}

const questionOf = (trail: readonly Triple[]): string =>
  writeQuestion({ path: trail.map(({ relation }) => relation), base: trail.at(-1)!.subject });

/** Alternating texts of an episode: prompt, turn, findings, turn, …; one of its turns after all before it. */
function oneTurn(random: Random, role: Demonstration['role'], texts: readonly string[]): Demonstration {
  const turn = 2 * random.int(texts.length / 2) + 1;
  return { role, prompt: texts.slice(0, turn).join(''), completion: texts[turn]! };
}

/** The document of a search as text; empty where nothing is found. */
const find = ({ index }: Knowledge, query: string) => index.search(query, FINDINGS);

function proposer(random: Random, knowledge: Knowledge): Demonstration {
  const { found: trail, used, answer } = someTrail(random, knowledge, true);
  const texts = [proposerPrompt(answer, trail.length)];
  for (const { relation, object } of trail) {
    const query = `${relation} ${object}`;
    texts.push(writeSearch(query), writeFindings(find(knowledge, query)));
  }
  const path = trail.slice(0, used).map(({ relation }) => relation);
  if (random.bool(WRONG)) {
    const at = random.int(used);
    const [subject, object] = RELATIONS[path[at]!];
    const fits = RELATION_NAMES.filter(
      (r) => RELATIONS[r][0] === subject && (at === 0 || RELATIONS[r][1] === object),
    );
    path[at] = random.pick(fits);
  }
  texts.push(writeProposal(writeQuestion({ path, base: trail[used - 1]!.subject })));
  return oneTurn(random, 'proposer', texts);
}

function solver(random: Random, knowledge: Knowledge): Demonstration {
  const { found: trail, used } = someTrail(random, knowledge, false);
  const hops = trail.slice(0, used).reverse();
  const texts = [solverPrompt(questionOf(trail.slice(0, used)))];
  let at = hops[0]!.subject;
  for (const [i, { relation }] of hops.entries()) {
    if (i > 0 && random.bool(STOPS_EARLY)) break;
    const query = `${relation} ${at}`;
    texts.push(writeSearch(query), writeFindings(find(knowledge, query)));
    at = knowledge.graph.object(at, relation as Relation)!;
  }
  texts.push(writeAnswer(at));
  return oneTurn(random, 'solver', texts);
}

/** The reader names what it passes on the way, then the answer. */
function reader(random: Random, knowledge: Knowledge): Demonstration {
  const { found: trail, used } = someTrail(random, knowledge, false);
  const noise = Array.from({ length: NOISE }, () => random.pick(knowledge.world.triples));
  const documents = random.shuffle([...new Set([...trail, ...noise])]);
  const texts = documents.map(
    ({ subject, relation, object }) => `the ${relation} of ${subject} is ${object}.`,
  );
  const passed = trail
    .slice(0, used)
    .reverse()
    .map(({ object }) => object);
  const thought = passed.length > 1 ? `<step>${passed.slice(0, -1).join(' ')}` : '';
  return {
    role: 'judge',
    prompt: readerPrompt(questionOf(trail.slice(0, used)), texts),
    completion: thought + writeAnswer(passed.at(-1)!),
  };
}

export function demonstrateKnowledge(random: Random): Demonstration {
  const role = [proposer, solver, reader][random.weighted(Object.values(SHARES))]!;
  return role(random, someWorld(random));
}
