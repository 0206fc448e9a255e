import { expect, test } from 'vitest';
import { tiedToSampling } from '../../core/plan/tied-sampling.ts';
import type { PolicyPart, UpdatePart } from '../../core/plan/training-plan.ts';
import type { RoleSettings } from '../../core/recipe/role.ts';

const part: PolicyPart = {
  kind: 'policy',
  role: 'solver',
  weight: 1,
  items: [],
  objective: { kind: 'reinforce' },
  aggregation: { mode: 'token-mean' },
};
const tied = (sampling: Partial<RoleSettings['sampling']>, one: UpdatePart = part) =>
  tiedToSampling([{ set: 'main', parts: [one] }], {
    name: 'own',
    roles: { solver: { description: 'answers', sampling: { maxNew: 8, temperature: 1, ...sampling } } },
  })[0]!.parts[0];

test('a policy part gets the temperature that its role samples at', () => {
  expect(tied({ temperature: 0.7 })).toEqual({ ...part, temperature: 0.7 });
  expect(tied({ temperature: 0.7 }, { ...part, temperature: 0.7 })).toEqual({ ...part, temperature: 0.7 });
  expect(tied({ topP: 1, topK: 0 })).toEqual(part);
});

test('another temperature is refused', () => {
  expect(() => tied({ temperature: 0.7 }, { ...part, temperature: 1 })).toThrow(
    /own trains its role solver at temperature 1\. Expected .*0\.7/,
  );
});

test.each([
  ['topP 0.9', { topP: 0.9 }],
  ['topK 20', { topK: 20 }],
])('%s is refused, since the learner does not reproduce it', (what, sampling) => {
  expect(() => tied(sampling)).toThrow(new RegExp(`samples it with ${what}\\. Expected .*all tokens`));
});

test('parts that take no ratio to the sampler may be sampled in any way', () => {
  const sft: UpdatePart = { kind: 'sft', role: 'solver', weight: 1, items: [] };
  expect(tied({ topP: 0.9, temperature: 0.5 }, sft)).toEqual(sft);
});
