import { JetStreamApiError } from '@nats-io/jetstream';
import { placeStream, TooFewServersError } from './stream-replicas.js';

const apiError = (code: number, description: string): JetStreamApiError =>
  new JetStreamApiError({ code: 400, err_code: code, description });

describe(placeStream, () => {
  it('throws TooFewServersError when the cluster cannot place the replicas', async () => {
    const change = (): Promise<never> => Promise.reject(apiError(10_005, 'no suitable peers for placement'));

    await expect(placeStream(3, change)).rejects.toThrow(TooFewServersError);
  });

  it('does not blame the number of servers for a full disk', async () => {
    const full = apiError(10_005, 'no suitable peers for placement, insufficient storage');

    await expect(placeStream(3, () => Promise.reject(full))).rejects.toBe(full);
  });
});
