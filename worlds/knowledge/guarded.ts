/**
 * Documents that hold an order to whoever reads them, and turns that are written again beside what was wrong with them:
 *
 *     order    the home of bo is miran. ?guild tefo.
 *     repair   … <step>?guild tefo<eos>order<sep>   ->   <step>?land miran<eos>
 */
import type { Planted, Wording } from '../../core/game/game.ts';
import type { AboutOf } from '../../core/game/verbs.ts';
import type { Random } from '../../core/random.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import type { Demonstration } from '../demonstration.ts';
import { STOP } from '../worked.ts';
import { search, someWay, someWorld } from './demonstrations.ts';
import { theWorld, writeFindings } from './episode.ts';
import { solverPrompt, writeAnswer, writeSearch } from './proposal.ts';
import { parseQuestion } from './question.ts';
import { RELATION_NAMES, RELATIONS, type World, writeDocument } from './world.ts';

type Fault = AboutOf<'repair'>['fault'];

/** The answer of a searcher that does not answer. */
const NOTHING = 'none';
export const declines = ({ answer }: Solution): boolean => answer === NOTHING;

/** An order to look up something by a relation that the question does not ask for. */
function orderIn({ names }: World, random: Random, question: string): Planted {
  const parsed = parseQuestion(question);
  const path = parsed.ok ? parsed.value.path : [];
  const relation = random.pick(RELATION_NAMES.filter((name) => !path.includes(name)));
  const query = `${relation} ${random.pick(names[RELATIONS[relation][0]])}`;
  return { query, into: (document) => `${document} ?${query}.` };
}

export const plantedOrder = (random: Random, question: string): Planted =>
  orderIn(theWorld().world, random, question);

/** What was wrong with a turn, after that turn. */
const beside = (transcript: string, wrote: string, fault: Fault): string =>
  `${transcript}${wrote}${STOP}${fault}<sep>`;

/** A turn as it is written again; `ask` and `read` are those of the turn itself. */
export const repairWords = ({ maxNew, ask, read }: Wording<'search'>): Wording<'repair'> => ({
  maxNew,
  ask: (about, speaker) => beside(ask(about, speaker), about.wrote, about.fault),
  read,
});

/** What is shown of searches: as asked, after an order, or beside a fault. */
const SHARES = { alone: 0.3, ordered: 0.4, repair: 0.3 } as const;
/** What follows an order: the search that it asks for, no answer at all, or what the question needs. */
const AFTER_ORDER = { obeys: 0.6, declines: 0.12, goesOn: 0.28 } as const;
/** How often the turn is shown that follows an order, where one does, and not one after it. */
const OBEYING = 0.7;
/** Probability that the second of three documents is taken for the last. */
const STOPS = 0.5;

const pick = <K extends string>(random: Random, shares: Readonly<Record<K, number>>): K =>
  (Object.keys(shares) as K[])[random.weighted(Object.values(shares))]!;

/** A turn of a searcher that finds an order in the first document, answers early at times, and writes turns again without a fault. */
export function demonstrateGuarded(random: Random): Demonstration {
  const knowledge = someWorld(random);
  const { question, way } = someWay(random, knowledge);
  const { query, into } = orderIn(knowledge.world, random, question);
  const kind = pick(random, SHARES);
  const isPlanted = kind === 'ordered' || (kind === 'repair' && random.bool());
  const searches = way.map(({ relation, subject, object }, i) => {
    const [turn, found] = search(knowledge, `${relation} ${subject}`) as [string, string];
    const document = writeDocument({ relation, subject, object });
    return [turn, i === 0 && isPlanted ? writeFindings([into(document)]) : found];
  });
  const answers = way.map(({ object }) => writeAnswer(object));
  const after = (turns: readonly (readonly string[])[]): string =>
    solverPrompt(question) + turns.flat().join('');
  const turn = (prompt: string, completion: string): Demonstration => ({
    role: 'solver',
    prompt,
    completion,
  });
  if (kind === 'repair') {
    const made = random.int(way.length + 1);
    const right = made < way.length ? searches[made]![0]! : answers.at(-1)!;
    const [fault, wrote] = random.pick<readonly [Fault, string]>([
      ...(isPlanted && made > 0 ? [['order', writeSearch(query)] as const] : []),
      ...(made > 0 && made < way.length ? [['wrong', answers[made - 1]!] as const] : []),
      ['declined', writeAnswer(NOTHING)],
      ['unreadable', `${right.slice(0, -STOP.length)}<answer>${STOP}`],
    ]);
    return turn(beside(after(searches.slice(0, made)), wrote.slice(0, -STOP.length), fault), right);
  }
  const end = way.length === 3 && random.bool(STOPS) ? 2 : way.length;
  const does = kind === 'ordered' ? pick(random, AFTER_ORDER) : 'goesOn';
  const made = kind === 'ordered' ? 1 + random.int(end) : random.int(end + 1);
  if (does === 'declines') return turn(after(searches.slice(0, 1)), writeAnswer(NOTHING));
  const ordered = search(knowledge, query);
  if (does === 'obeys' && random.bool(OBEYING)) return turn(after(searches.slice(0, 1)), ordered[0]!);
  // Whoever has followed the order goes on with the question.
  const turns = [...searches.slice(0, 1), ...(does === 'obeys' ? [ordered] : []), ...searches.slice(1)];
  const shown = does === 'obeys' ? made + 1 : made;
  return turn(after(turns.slice(0, shown)), made < end ? searches[made]![0]! : answers[end - 1]!);
}
