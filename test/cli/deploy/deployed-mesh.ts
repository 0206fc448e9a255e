/** A folder, an account and a deployment between them, for the tests. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { DeployFiles } from '../../../cli/deploy/deploy-files.ts';
import type { Environment, Wanted } from '../../../cli/deploy/mesh-parts.ts';
import type { Plan } from '../../../cli/deploy/plan.ts';
import { deploy } from '../../../cli/deploy/run.ts';
import { FakeWrangler } from './fake-wrangler.ts';

const PLACEHOLDER = 'database_id = "00000000-0000-0000-0000-000000000001"\n';

export const WANTED: Wanted = {
  database: 'rollmesh',
  bucket: 'rollmesh',
  queues: [
    'rollmesh-dlq',
    'rollmesh-episode',
    'rollmesh-judge',
    'rollmesh-propose',
    'rollmesh-rollout',
    'rollmesh-scored',
  ],
  pullQueue: 'rollmesh-scored',
  deadLetters: 'rollmesh-dlq',
  migrations: ['0000_schema.sql', '0001_more.sql'],
  workers: {
    judge: 'rollmesh-judge',
    rollout: 'rollmesh-rollout',
    proposer: 'rollmesh-proposer',
    gateway: 'rollmesh-gateway',
  },
  mains: { judge: '', rollout: '', proposer: '', gateway: '' },
};

export class DeployedMesh {
  readonly root = mkdtempSync(join(tmpdir(), 'rollmesh-deploy-'));
  readonly wrangler = new FakeWrangler(this.root, () => this.wanted.migrations);
  readonly said: string[] = [];
  wanted = WANTED;
  /** What the Workers are made of; another text is another version. */
  readonly sources: Record<Environment, string> = {
    judge: '1',
    rollout: '1',
    proposer: '1',
    gateway: '1',
    environment: '1',
  };
  seeded = 0;

  constructor() {
    writeFileSync(join(this.root, 'wrangler.toml'), PLACEHOLDER.repeat(4));
    onTestFinished(() => rmSync(this.root, { recursive: true }));
  }

  run(options: { dryRun?: boolean; account?: string; env?: Record<string, string> } = {}): Promise<Plan> {
    return deploy(
      {
        wanted: this.wanted,
        files: new DeployFiles(this.root, options.env ?? {}),
        connect: this.wrangler.connect,
        account: options.account,
        tagOf: async (environment, id) => `rm-${this.sources[environment]}-${id}`,
        hasStartPolicy: async () => this.seeded > 0,
        uploadStartPolicy: async () => {
          this.seeded += 1;
        },
        say: (line) => this.said.push(line),
      },
      options.dryRun ?? false,
    );
  }

  read(file: string): string {
    return readFileSync(join(this.root, file), 'utf8');
  }

  get files(): string[] {
    return readdirSync(this.root, { recursive: true, encoding: 'utf8' }).sort();
  }

  /** Every value of a secret that a Worker holds. */
  get secretValues(): string[] {
    return [...this.wrangler.workers.values()].flatMap(({ secrets }) => [...secrets.values()]);
  }

  secret(environment: Environment, name: string): string | undefined {
    return this.wrangler.workers.get(environment)?.secrets.get(name);
  }
}
