/**
 * String rewriting: rules `ab>ba` replace one occurrence anywhere in a word; a derivation shows that the goal can be reached.
 * Parsing, the one-step relation, and a breadth-first oracle, all within a bound on word length so that all is decidable.
 *
 *     task   rule(,rule){0,4};start;goal     ab>ba,ca>b;abca;bab
 */
import type { ParseResult } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';

export interface Rule {
  readonly from: string;
  readonly to: string;
}

export interface Instance {
  readonly rules: readonly Rule[];
  readonly start: string;
  readonly goal: string;
}

/** Longest word in a derivation. */
export const MAX_WORD = 10;
/** Longest derivation. */
export const MAX_DERIVATION = 8;
/** Words that the exact checker visits before it gives up; an instance that needs more is not admitted. */
const MAX_VISITED = 4000;

const WORD = /^[abc]{1,10}$/;
const RULE = /^([abc]{1,3})>([abc]{1,3})$/;

export const isWord = (text: string): boolean => WORD.test(text);

export const writeInstance = ({ rules, start, goal }: Instance): string =>
  `${writeRules(rules)};${start};${goal}`;

export const writeRules = (rules: readonly Rule[]): string =>
  rules.map(({ from, to }) => `${from}>${to}`).join(',');

/** Reasons: off-grammar, idle-rule (a rule that changes nothing), repeated-rule, trivial (start is goal). */
export function parseInstance(text: string): ParseResult<Instance> {
  const [rulesText = '', start = '', goal = '', ...rest] = text.length > 80 ? [] : text.split(';');
  if (rest.length > 0 || !isWord(start) || !isWord(goal)) return invalid('off-grammar');
  const rules: Rule[] = [];
  for (const part of rulesText.split(',')) {
    const [, from, to] = RULE.exec(part) ?? [];
    if (from === undefined || to === undefined) return invalid('off-grammar');
    if (from === to) return invalid('idle-rule');
    rules.push({ from, to });
  }
  if (rules.length > 5) return invalid('off-grammar');
  if (new Set(rulesText.split(',')).size < rules.length) return invalid('repeated-rule');
  return start === goal ? invalid('trivial') : ok({ rules, start, goal });
}

/** Every word one step away, once each, in order of rule and position. */
export function successors(rules: readonly Rule[], word: string): string[] {
  const found = new Set<string>();
  for (const { from, to } of rules)
    for (let at = word.indexOf(from); at >= 0; at = word.indexOf(from, at + 1)) {
      const next = word.slice(0, at) + to + word.slice(at + from.length);
      if (next.length <= MAX_WORD) found.add(next);
    }
  return [...found];
}

/** What the exact checker knows of an instance. `unreachable`: no derivation exists within the bound on words; `unknown`: it gave up. */
export type Search =
  | { readonly kind: 'derivation'; readonly words: readonly string[] }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'unknown' };

/** A shortest derivation, start left out and goal last. */
export function derive({ rules, start, goal }: Instance): Search {
  const parents = new Map([[start, '']]);
  // A Map iterates over what is added while it iterates: it is its own queue.
  for (const word of parents.keys()) {
    if (word === goal) return { kind: 'derivation', words: pathTo(parents, goal) };
    if (parents.size > MAX_VISITED) return { kind: 'unknown' };
    for (const next of successors(rules, word)) if (!parents.has(next)) parents.set(next, word);
  }
  return { kind: 'unreachable' };
}

function pathTo(parents: ReadonlyMap<string, string>, goal: string): string[] {
  const words: string[] = [];
  for (let word = goal; parents.get(word) !== ''; word = parents.get(word)!) words.unshift(word);
  return words;
}
