/**
 * Graphs whose links come again: a node that has linked to another does so after the time that lay between the last two such links. Whom it links
 * to at a later time follows from the graph, and a neighbourhood is chosen from a larger graph by walks that go back in time.
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';

/** A link from a node to another at a time, 1 … 8. Nodes are letters. */
export interface Link {
  readonly from: string;
  readonly to: string;
  readonly time: number;
}

/** Links in the order of their times, and the question to whom a node links at a time after all of them. */
export interface Query {
  readonly links: readonly Link[];
  readonly node: string;
  readonly time: number;
}

/** The times at which a node linked to each of its contacts, rising, by contact in the order of the first link. */
export function contactsOf({
  links,
  node,
}: Pick<Query, 'links' | 'node'>): ReadonlyMap<string, readonly number[]> {
  const times = new Map<string, number[]>();
  for (const { from, to, time } of links) if (from === node) times.set(to, [...(times.get(to) ?? []), time]);
  return times;
}

/** When the next of these links comes, rising times [n]; null where there is one alone, after which none is known to come. */
export function nextTime(times: readonly number[]): number | null {
  const [before, last] = times.slice(-2);
  return before === undefined || last === undefined ? null : last + (last - before);
}

/** The nodes to which the query's node links at its time. */
export const linksAt = (query: Query): string[] =>
  [...contactsOf(query)].flatMap(([to, times]) => (nextTime(times) === query.time ? [to] : []));

/** A walk that stands at a node ends there with this probability, and goes on otherwise. */
const STOP = 0.3;
/** How much less likely a walk takes the next older link of a node. */
const OLDER = 0.8;
const STEPS = 2;

/**
 * How likely walks from the query's node end at each node. They go back in time along links in either direction, at most two, rather along recent
 * ones: `STOP` and `OLDER` are the α and β of ReaL-TG’s temporal context graph selection, computed exactly.
 */
export function walkEnds({ links, node, time }: Query): ReadonlyMap<string, number> {
  const ends = new Map([[node, 1]]);
  const walk = (at: string, before: number, mass: number, steps: number): void => {
    const earlier = links
      .filter((link) => link.time < before && (link.from === at || link.to === at))
      .sort((a, b) => b.time - a.time);
    const shares = earlier.map((_, i) => OLDER ** i);
    const all = shares.reduce((sum, share) => sum + share, 0);
    for (const [i, link] of earlier.entries()) {
      const to = link.from === at ? link.to : link.from;
      const arrived = (mass * shares[i]!) / all;
      const ended = steps === STEPS ? arrived : arrived * STOP;
      ends.set(to, (ends.get(to) ?? 0) + ended);
      if (steps < STEPS) walk(to, link.time, arrived - ended, steps + 1);
    }
  };
  walk(node, time, 1, 1);
  return ends;
}

/** The links among the nodes at which most walks end, the query's own included. */
export function contextOf(query: Query, nodes: number): Query {
  const kept = new Set(
    [...walkEnds(query)]
      .sort(([, a], [, b]) => b - a)
      .slice(0, nodes)
      .map(([node]) => node),
  );
  return { ...query, links: query.links.filter(({ from, to }) => kept.has(from) && kept.has(to)) };
}

/** Nodes of a graph, and of the neighbourhood that is asked about. */
const NODES = 10;
const NEIGHBOURHOOD = 5;
const MOST_LINKS = 16;
/** How often a contact is drawn so that it is due at the query's time. */
const DUE = 0.45;

/** The times of links to a contact before a query’s time: one to three, a period of one to three apart. */
function drawTimes(random: Random, time: number, due: boolean): number[] {
  const period = 1 + random.int(3);
  const last = due ? time - period : 1 + random.int(time - 1);
  const count = (due ? 2 : 1) + random.int(2);
  return Array.from({ length: count }, (_, i) => last - i * period).filter((at) => at >= 1);
}

/** A neighbourhood in a graph with nodes of these names, in which its node links to one, two or three others at the query's time. */
export const drawQuery = (random: Random, names: readonly string[]): Query =>
  drawUntil(
    () => {
      const nodes = random.shuffle(names).slice(0, NODES);
      const [node] = nodes;
      const time = 7 + random.int(3);
      const links = nodes.flatMap((from) => {
        const others = random.shuffle(nodes.filter((other) => other !== from));
        const contacts = others.slice(0, from === node ? 3 + random.int(2) : 1 + random.int(2));
        return contacts.flatMap((to) =>
          drawTimes(random, time, from === node && random.bool(DUE)).map((at) => ({ from, to, time: at })),
        );
      });
      const graph = {
        links: random.shuffle(links).sort((a, b) => a.time - b.time),
        node: node!,
        time,
      };
      return { graph, context: contextOf(graph, NEIGHBOURHOOD) };
    },
    ({ graph, context }) => {
      const due = linksAt(graph);
      // As in the paper, only questions whose whole answer lies in the neighbourhood are asked.
      return (
        due.length >= 1 &&
        due.length <= 3 &&
        linksAt(context).length === due.length &&
        context.links.length <= MOST_LINKS
      );
    },
  ).context;
