import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { isHeldOutStyle, parseStyleTask, pointsOf } from '../../worlds/style/family.ts';
import { demonstrateRules } from '../../worlds/style/rule-demonstrations.ts';
import {
  ALL_RULES,
  edited,
  parseEdit,
  parseRuleVerdict,
  randomEdit,
  readEdit,
  ruleHolds,
} from '../../worlds/style/rules.ts';

/** Backwards, two or three words; tok is there twice. */
const TASK = 'za 2-3:tok bel ana tok di';

test('a rule holds or not, by hand', () => {
  const holding = (response: string) =>
    ALL_RULES.filter((rule) => !rule.includes(':') && ruleHolds(rule, TASK, response)).sort();
  // Backwards; ana, of three letters, comes after words as long; begins with tok, which is the source's first word.
  expect(holding('tok bel ana')).toEqual(['begins', 'count', 'down', 'first', 'once', 'source', 'up', 'za']);
  // From a to z by letters and by length falling; a word twice; four words; di has two letters and is the source's last word.
  expect(holding('ana ana bel di')).toEqual(['az', 'down', 'ends', 'last', 'long', 'small', 'source']);
  // Five letters, which are not in the source; one word is in every order.
  expect(holding('belan')).toEqual(['az', 'big', 'down', 'once', 'short', 'up', 'za']);
});

test('a rule about another order than the one that is asked for holds', () => {
  expect(['az', 'za', 'za:az', 'up:az'].map((rule) => ruleHolds(rule, TASK, 'tok ana'))).toEqual([
    false,
    true,
    false,
    true,
  ]);
  expect([ruleHolds('once', 'no task', 'tok'), ruleHolds('better', TASK, 'tok')]).toEqual([false, false]);
});

test('seven rules count what the rubric counts of a response with two words or more in its form', () => {
  const random = new Random('rules');
  for (let i = 0; i < 300; i++) {
    const { role, prompt } = demonstrateRules(random);
    if (role !== 'judge') continue;
    const [, text, response] = prompt.replace('<judge>', '').split('<sep>') as [string, string, string];
    const task = parseStyleTask(text);
    if (!task.ok) throw new Error(text);
    const points = pointsOf(task.value, response);
    if (!points.form || !response.includes(' ')) continue;
    const holds = (rule: string) => ruleHolds(rule, text, response);
    expect(['az:az', 'za:za', 'up:up', 'down:down'].every(holds)).toBe(points.order);
    expect(['source', 'once', 'count'].map(holds)).toEqual([points.source, points.distinct, points.length]);
  }
});

test('an edit adds a rule once or drops it, and what names no rule is none', () => {
  expect(edited(['long'], { adds: true, rule: 'az:az' })).toEqual(['long', 'az:az']);
  expect(edited(['long', 'once'], { adds: true, rule: 'long' })).toEqual(['long', 'once']);
  expect(edited(['long', 'once'], { adds: false, rule: 'long' })).toEqual(['once']);
  expect(edited(['long'], { adds: false, rule: 'once' })).toEqual(['long']);
  expect(parseEdit('+up:count<eos>')).toEqual({ ok: true, value: '+up:count' });
  for (const text of ['+up:count', 'once<eos>', '+better<eos>', '-:az<eos>', '+<eos>'])
    expect(parseEdit(text).ok).toBe(false);
  expect([parseRuleVerdict('<right><eos>'), parseRuleVerdict('<wrong><eos>')]).toEqual([
    { ok: true, value: true },
    { ok: true, value: false },
  ]);
  expect(parseRuleVerdict('<right>').ok).toBe(false);
});

test('a random edit drops a rule of the library in one case of four, and otherwise adds any', () => {
  const random = new Random('edits');
  const drawn = Array.from({ length: 4000 }, () => randomEdit(random, ['long']));
  const dropped = drawn.filter(({ adds }) => !adds);
  expect(dropped.every(({ rule }) => rule === 'long')).toBe(true);
  expect(dropped.length / drawn.length).toBeCloseTo(0.25, 1);
  expect(new Set(drawn.map(({ rule }) => rule)).size).toBe(75);
});

test('demonstrations: exact verdicts of both kinds, edits that tell the two responses apart, nothing held out', () => {
  const random = new Random('demonstrations');
  const roles = new Map<string, number>();
  let right = 0;
  for (let i = 0; i < 1500; i++) {
    const { role, prompt, completion } = demonstrateRules(random);
    roles.set(role, (roles.get(role) ?? 0) + 1);
    const body = prompt.replace(/^<\w+>/, '').split('<sep>');
    const text = body[role === 'responder' ? 0 : 1]!;
    expect(isHeldOutStyle(text)).toBe(false);
    if (role === 'judge') {
      const said = completion === '<right><eos>';
      expect(said).toBe(ruleHolds(body[0]!, text, body[2]!));
      right += Number(said);
    }
    if (role === 'orchestrator') {
      const { adds, rule } = readEdit(completion.replace('<eos>', ''))!;
      const [better, worse] = [ruleHolds(rule, text, body[2]!), ruleHolds(rule, text, body[3]!)];
      expect([better, worse]).toEqual([adds, !adds]);
      expect(body[0]!.split(' ').includes(rule)).toBe(!adds);
    }
  }
  expect([...roles.keys()].sort()).toEqual(['judge', 'orchestrator', 'responder']);
  expect(right / roles.get('judge')!).toBeGreaterThan(0.45);
  expect(right / roles.get('judge')!).toBeLessThan(0.65);
});
