/** What every way of generating is given, so that runs of one shape do the same work. */

/** `groups` prompts with `samples` samples each. */
export interface Shape {
  readonly groups: number;
  readonly samples: number;
}

export interface BenchPrompt {
  readonly ids: number[];
  readonly sampleIds: string[];
}

export const benchPrompts = ({ groups, samples }: Shape, length: number, vocabSize: number): BenchPrompt[] =>
  Array.from({ length: groups }, (_, g) => ({
    ids: Array.from({ length }, (_, i) => (g * 7 + i * i * 3 + i) % vocabSize),
    sampleIds: Array.from({ length: samples }, (_, s) => `bench/${g}/${s}`),
  }));
