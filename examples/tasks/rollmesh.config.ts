/** What is trained on what. Every field is a flag of `rollmesh start`; a flag on the command line has the last word. */
import { defineConfig } from 'rollmesh';

export default defineConfig({
  recipe: 'grpo',
  // A small policy that comes with rollmesh. One of your own: `npx rollmesh policy import DIR --name NAME`.
  policy: 'arithmetic-base',
  files: 'tasks.jsonl',
  heldOut: 0.2,
  checker: 'number',
  // The sum of both is what is trained on; each has its own figure in the round's report.
  reward: { checker: 1, './brevity.ts': 0.2 },
  tasks: 8,
  groupSize: 4,
  settings: {
    maxNew: 26,
    optimizer: { learningRate: 1e-4, warmup: 4 },
  },
});
