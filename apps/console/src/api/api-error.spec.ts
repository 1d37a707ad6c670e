import { ApiError, describeFault, retryInterval } from './api-error.js';

const failed = (status: number): ApiError => new ApiError(status, undefined, undefined);

describe('retryInterval', () => {
  it('lets a query try again only after errors that can pass by themselves', () => {
    for (const status of [0, 429, 502, 503]) expect(retryInterval(failed(status))).toBeGreaterThan(0);
    for (const error of [failed(404), failed(500), new Error('a defect'), null])
      expect(retryInterval(error)).toBe(false);
  });
});

describe('describeFault', () => {
  it('says whether the service does not respond, or a proxy responds in its place', () => {
    expect(describeFault(failed(0))).toMatchObject({ title: 'No connection' });
    const { title, detail, advice } = describeFault(failed(502));
    expect(title).toBe('Unexpected response');
    expect(detail).toMatch('such as a proxy, responded with status 502');
    expect(advice).toMatch('Check the proxy');
  });

  it('does not promise that the page tries again, because forms and buttons do not', () => {
    for (const status of [0, 429, 503]) expect(describeFault(failed(status)).advice).not.toMatch(/keeps/);
  });
});
