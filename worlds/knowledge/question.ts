/**
 * Multi-hop questions over triples, with the exact set of their answers. A question is good when that set has one element.
 *
 *     question   the (relation of the)* relation of base?
 *     base       name  |  the one with relation name [and relation name]
 *
 *     the land of the home of bakido?
 *     the mayor of the home of the one with guild rumeta and mentor bakido?
 */
import type { ParseResult } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { isRelation, RELATIONS, type Relation, type Triple } from './world.ts';

export interface Condition {
  readonly relation: Relation;
  readonly object: string;
}

export interface Question {
  /** Outermost first: `the land of the home of x` has [land, home]. */
  readonly path: readonly Relation[];
  readonly base: string | readonly Condition[];
}

/** Relations a path may have. */
export const MAX_HOPS = 4;

export function writeQuestion({ path, base }: Question): string {
  const hops = path.map((relation) => `the ${relation} of `).join('');
  if (typeof base === 'string') return `${hops}${base}?`;
  return `${hops}the one with ${base.map(({ relation, object }) => `${relation} ${object}`).join(' and ')}?`;
}

const SHAPE =
  /^((?:the [a-z]+ of ){1,4})(?:([a-z]+)|the one with ([a-z]+) ([a-z]+)(?: and ([a-z]+) ([a-z]+))?)\?$/;

/** Strict parse. Reasons: off-grammar, unknown-relation, type-clash (a relation of something that cannot have it). */
export function parseQuestion(text: string): ParseResult<Question> {
  const match = SHAPE.exec(text);
  if (!match) return invalid('off-grammar');
  const [, hops = '', name, first, firstObject = '', second, secondObject = ''] = match;
  const path = hops.match(/the [a-z]+ of /g)!.map((hop) => hop.slice(4, -4));
  if (!path.every(isRelation)) return invalid('unknown-relation');
  for (const [i, relation] of path.slice(0, -1).entries())
    if (RELATIONS[path[i + 1]!][1] !== RELATIONS[relation][0]) return invalid('type-clash');
  if (name !== undefined) return ok({ path, base: name });
  const conditions: Condition[] = [];
  for (const [relation, object] of [
    [first, firstObject],
    [second, secondObject],
  ] as const) {
    if (relation === undefined) continue;
    if (!isRelation(relation)) return invalid('unknown-relation');
    if (RELATIONS[relation][0] !== RELATIONS[path.at(-1)!][0]) return invalid('type-clash');
    conditions.push({ relation, object });
  }
  return ok({ path, base: conditions });
}

/** Look-ups over a set of triples. */
export class Graph {
  readonly #objects = new Map<string, string>();
  readonly #subjects = new Map<string, string[]>();

  constructor(triples: readonly Triple[]) {
    for (const { subject, relation, object } of triples) {
      this.#objects.set(`${relation} ${subject}`, object);
      const key = `${relation} ${object}`;
      const subjects = this.#subjects.get(key);
      if (subjects) subjects.push(subject);
      else this.#subjects.set(key, [subject]);
    }
  }

  object(subject: string, relation: Relation): string | undefined {
    return this.#objects.get(`${relation} ${subject}`);
  }

  subjects({ relation, object }: Condition): readonly string[] {
    return this.#subjects.get(`${relation} ${object}`) ?? [];
  }

  /** Everything a base may mean. */
  #bases(base: Question['base']): readonly string[] {
    if (typeof base === 'string') return [base];
    const [first, ...others] = base.map((condition) => this.subjects(condition));
    return (first ?? []).filter((subject) => others.every((subjects) => subjects.includes(subject)));
  }

  /**
   * The answers that these triples support, sorted; none where a hop is missing. Two bases that lead to one answer are still two readings of the
   * question: see `isUnique`.
   */
  answers({ path, base }: Question): string[] {
    const found = new Set<string>();
    for (const start of this.#bases(base)) {
      const end = path.reduceRight<string | undefined>(
        (at, relation) => (at === undefined ? undefined : this.object(at, relation)),
        start,
      );
      if (end !== undefined) found.add(end);
    }
    return [...found].sort();
  }

  /** Whether a question’s base names exactly one entity, so that the question has one answer. */
  isUnique(question: Question): boolean {
    return this.#bases(question.base).length === 1 && this.answers(question).length === 1;
  }
}

/** The number of documents that have to be read: one for each hop and one for each condition. */
export const hopsOf = ({ path, base }: Question): number =>
  path.length + (typeof base === 'string' ? 0 : base.length);
