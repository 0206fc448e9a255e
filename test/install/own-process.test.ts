/**
 * A test that puts another module in a module's place, or has modules evaluated again, has a process of its own. The files of a process share their modules:
 * one that is evaluated twice would find ONNX Runtime already started.
 */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import config from '../../vitest.config.ts';

const CHANGES_MODULES = /\bvi\.(?:resetModules|mock|doMock|importActual)\(/;

const alone = config.test!.projects!.flatMap((project) =>
  typeof project === 'object' && 'test' in project && project.test?.name === 'alone'
    ? (project.test.include ?? [])
    : [],
);

test('tests that change modules have a process of their own', () => {
  const changes = globSync('test/**/*.test.ts').filter((file) =>
    CHANGES_MODULES.test(readFileSync(file, 'utf8')),
  );
  expect(changes.length).toBeGreaterThan(2);
  expect(globSync(alone)).toEqual(expect.arrayContaining(changes));
});
