/** What the gateway answers of an error: its own in words, the database's damage and lack of room by name, any other without its cause. */
import { expect, test } from 'vitest';
import { errorResponse } from '../../workers/gateway/http-error.ts';

test('a damaged database is named, with a way on, however deep its error is wrapped', () => {
  for (const words of [
    'D1_ERROR: database disk image is malformed: SQLITE_CORRUPT',
    'file is not a database: SQLITE_NOTADB',
  ]) {
    const wrapped = new Error('Failed query: select * from rounds', { cause: new Error(words) });
    const { status, body } = errorResponse(wrapped);
    expect(status).toBe(500);
    expect(body.error).toMatchObject({ code: 'database.damaged', next: expect.stringContaining('--fresh') });
    expect(JSON.stringify(body)).not.toMatch(/select|SQLITE|D1_ERROR/);
  }
});

test('a database that finds no room is named', () => {
  const wrapped = new Error('Failed query: insert into rounds', {
    cause: new Error('D1_ERROR: database or disk is full: SQLITE_FULL'),
  });
  const { status, body } = errorResponse(wrapped);
  expect(status).toBe(507);
  expect(body.error).toMatchObject({ code: 'disk.full', next: expect.stringContaining('Make room') });
  expect(JSON.stringify(body)).not.toMatch(/insert|SQLITE|D1_ERROR/);
});

test('a database whose migrations are not applied yet is named', () => {
  const { status, body } = errorResponse(
    new Error('Failed query: select * from rounds', {
      cause: new Error('D1_ERROR: no such table: rounds: SQLITE_ERROR'),
    }),
  );
  expect([status, body.error.code]).toEqual([503, 'database.migrating']);
  expect(JSON.stringify(body)).not.toMatch(/select|SQLITE|D1_ERROR/);
});

test('anything else that is not ours tells nothing', () => {
  const { status, body } = errorResponse(new TypeError('x is not a function at /secret/path.ts:3:1'));
  expect([status, body.error.code]).toEqual([500, 'internal']);
  expect(JSON.stringify(body)).not.toContain('secret');
});
