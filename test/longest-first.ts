/** The order of test files: those that take longest begin first, so that none of them is left to run alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that took longest in a run of CI, longest first. A file that is missing here costs time and nothing else. */
const LONG = [
  'browser/every-recipe',
  'mesh/every-recipe',
  'cli/readme',
  'learner/engine-webgpu',
  'run/webgpu-round',
  'cli/policy/import-killed',
  'cli/my-first-own-run',
  'mesh/loop',
  'cli/full-disk',
  'trust/kill-every-stage',
  'cli/agent-examples',
  'mesh/task-files',
  'mesh/agent-commands',
  'mesh/question-recipes',
  'trust/kill',
  'mesh/deploy-dry-run',
  'cli/start-command',
  'mesh/played-environments',
  'mesh/agent-seats',
  'nodes/nodes',
  'trust/paused-and-repeated',
  'mesh/agent-episodes',
  'nodes/close',
  'nodes/churn',
  'cli/served',
  'cli/policy/command',
  'cli/two-starts',
  'trust/audit',
  'browser/page',
  'mesh/ahead',
  'trust/audit-mesh',
  'trust/hostile',
  'mesh/gateway',
  'store/retention',
  'mesh/model-endpoints',
  'mesh/restart',
  'mesh/rounds',
  'mesh/cpu-budget',
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
