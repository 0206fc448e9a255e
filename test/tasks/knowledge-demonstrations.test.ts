import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { demonstrateKnowledge } from '../../core/tasks/knowledge/demonstrations.ts';
import { isHeldOutQuestion, readTurn } from '../../core/tasks/knowledge/episode.ts';
import {
  ANSWER_KINDS,
  admitProposal,
  readProposerTurn,
  readTask,
  writeTask,
} from '../../core/tasks/knowledge/proposal.ts';
import { readDocument, type Triple } from '../../core/tasks/knowledge/world.ts';

const random = new Random('knowledge-demonstrations');
const demonstrations = Array.from({ length: 1500 }, () => demonstrateKnowledge(random));
const of = (role: string) => demonstrations.filter((it) => it.role === role);
const tokens = (text: string) => text.replace(/<[a-z]+>/g, '#').length;
const found = (prompt: string): Triple[] =>
  [...prompt.matchAll(/the [a-z]+ of [a-z]+ is [a-z]+\./g)].map(([text]) => readDocument(text)!);

test('every turn keeps to its role’s grammar and fits the context with all before it', () => {
  for (const { role, prompt, completion } of demonstrations) {
    const reading = role === 'solver' ? readTurn(completion) : readProposerTurn(completion);
    expect(reading.ok, completion).toBe(true);
    expect(tokens(prompt) + tokens(completion)).toBeLessThanOrEqual(256);
  }
});

test('no question is held out', () => {
  for (const { prompt } of of('solver'))
    expect(isHeldOutQuestion(/^<solve>(.*?)<sep>/.exec(prompt)![1]!)).toBe(false);
  for (const { completion } of of('proposer')) {
    const turn = readProposerTurn(completion);
    if (turn.ok && turn.value.kind === 'question') expect(isHeldOutQuestion(turn.value.text)).toBe(false);
  }
});

test('a proposer finds what leads to its answer, and asks of the first that it found', () => {
  const asked = of('proposer').filter(({ completion }) => completion.startsWith('<answer>'));
  let used = 0;
  let right = 0;
  for (const { prompt, completion } of asked) {
    const [, kind, answer, searches] = /^<propose>([a-z]+) ([a-z]+) (\d)<sep>/.exec(prompt)!;
    expect(ANSWER_KINDS).toContain(kind);
    expect(prompt.split('<step>?')).toHaveLength(1 + Number(searches));
    // What does not lead on was a search in vain.
    const trail: Triple[] = [];
    let at = answer;
    for (const triple of found(prompt)) if (triple.object === at) at = trail[trail.push(triple) - 1]!.subject;
    expect(trail.length).toBeGreaterThan(0);
    const [, path, base] = /^<answer>((?:the [a-z]+ of )+)([a-z]+)\?<eos>$/.exec(completion)!;
    const relations = [...path!.matchAll(/the ([a-z]+) of /g)].map(([, relation]) => relation);
    expect(base).toBe(trail[relations.length - 1]!.subject);
    used += relations.length;
    right += Number(relations.every((relation, i) => relation === trail[i]!.relation));
  }
  // 15 % are changed, some of them to what they were; a question uses fewer documents than are found.
  expect(right / asked.length).toBeGreaterThan(0.8);
  expect(right / asked.length).toBeLessThan(0.99);
  expect(used / asked.length).toBeLessThan(1.8);
});

test('a solver follows its question, and gives what it found last, often too early', () => {
  const answered = of('solver').filter(({ completion }) => completion.startsWith('<answer>'));
  let early = 0;
  for (const { prompt, completion } of answered) {
    const hops = prompt.split(' of ').length - 1 - found(prompt).length;
    const way = found(prompt);
    expect(completion).toBe(`<answer>${way.at(-1)!.object}<eos>`);
    early += Number(way.length < hops);
  }
  expect(early / answered.length).toBeGreaterThan(0.2);
  expect(early / answered.length).toBeLessThan(0.6);
});

test('rules of a proposal', () => {
  const good = { answer: 'miran', question: 'the home of bo?', queries: ['home miran'] };
  expect(admitProposal(good)).toEqual({ ok: true, value: good.question });
  const reason = (change: Partial<typeof good>) => admitProposal({ ...good, ...change });
  expect(reason({ queries: [] })).toEqual({ ok: false, reason: 'no-search' });
  expect(reason({ queries: ['a', 'b', 'a'] })).toEqual({ ok: false, reason: 'repeated-query' });
  expect(reason({ question: 'the land of miran?' })).toEqual({ ok: false, reason: 'gives-away' });
  expect(readProposerTurn('<answer>the land of the mentor of bo?<eos>').ok).toBe(false);
  expect(readProposerTurn('<answer>miran<eos>').ok).toBe(false);
  expect(readTask(writeTask(good.question, good.answer))).toEqual({
    question: good.question,
    answer: good.answer,
  });
  expect(() => readTask('miran')).toThrow(/is no question/);
});
