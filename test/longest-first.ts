/** The order of test files: those that take longest begin first, so that none of them is left to run alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that took longest in a run of CI, longest first. A file that is missing here costs time and nothing else. */
const LONG = [
  'mesh/every-recipe',
  'browser/every-recipe',
  'mesh/task-files',
  'cli/readme',
  'mesh/question-recipes',
  'trust/kill',
  'mesh/agent-commands',
  'mesh/agent-episodes',
  'learner/engine-webgpu',
  'mesh/loop',
  'trust/kill-every-stage',
  'mesh/deploy-dry-run',
  'cli/start-command',
  'cli/policy/import-killed',
  'cli/my-first-own-run',
  'nodes/nodes',
  'mesh/ahead',
  'mesh/rounds',
  'mesh/agent-seats',
  'cli/agent-examples',
  'cli/two-starts',
  'mesh/restart',
  'cli/policy/policy',
  'trust/audit',
  'cli/served',
  'trust/paused-and-repeated',
  'nodes/close',
  'cli/policy/command',
  'nodes/churn',
  'browser/page',
  'trust/audit-mesh',
  'mesh/cpu-budget',
  'mesh/gateway',
  'mesh/model-endpoints',
  'nodes/mixed',
];

const rank = ({ moduleId }: TestSpecification): number => {
  const at = LONG.findIndex((file) => moduleId.endsWith(`/test/${file}.test.ts`));
  return at < 0 ? LONG.length : at;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // The base order is kept among the others: by the time that they took before, where that is known.
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
