import { expect, test } from 'vitest';
import { isOpenToPages, originsOf } from '../../core/net/cross-origin.ts';

test('a setting names origins, separated by commas; without one there are none', () => {
  expect(originsOf(undefined)).toEqual([]);
  expect(originsOf(' ')).toEqual([]);
  expect(originsOf('https://a.example, http://localhost:5173')).toEqual([
    'https://a.example',
    'http://localhost:5173',
  ]);
});

test.each([
  '*',
  'null',
  'a.example',
  'https://a.example/',
  'https://a.example/x',
  'https://A.example',
  'file:///x',
])('%s is no origin', (text) => {
  expect(() => originsOf(`https://a.example,${text}`)).toThrow(
    expect.objectContaining({ code: 'cors.origin' }),
  );
});

test('only the model endpoints are open to pages of others', () => {
  expect(['/v1/models', '/inference/v1/generate', '/agents/runs/x/episodes'].every(isOpenToPages)).toBe(true);
  expect(['/', '/v1', '/api/runs', '/api/v1/x', '/metrics', '/v10/x'].some(isOpenToPages)).toBe(false);
});
