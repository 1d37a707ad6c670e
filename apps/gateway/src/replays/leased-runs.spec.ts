import { createLogger } from '@stream-events/service';
import { LeasedRuns } from './leased-runs.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Creates runs that end on `end()`. `steps` records ended runs and releases in order. */
function setup() {
  const steps: string[] = [];
  const ends: (() => void)[] = [];
  const sut = new LeasedRuns(
    {
      name: 'replay',
      takeOver: () => Promise.resolve([]),
      release: () => {
        steps.push('release');
        return Promise.resolve();
      },
      run: async ({ id }: { id: string }) => {
        await new Promise<void>((resolve) => ends.push(resolve));
        steps.push(`end of ${id}`);
        return {};
      },
    },
    createLogger('test', 'silent'),
  );
  const end = (): void => {
    for (const resolve of ends.splice(0)) resolve();
  };
  return { sut, steps, end };
}

describe(LeasedRuns.name, () => {
  it('releases a row that begins after the stop', async () => {
    const { sut, steps } = setup();
    await sut.stop();

    sut.begin({ id: 'late' });
    await turn();

    expect(steps).toEqual(['release', 'release']);
  });

  it('releases a row that begins during the stop, but only after the other runs have ended', async () => {
    const { sut, steps, end } = setup();
    sut.begin({ id: 'early' });
    const stopped = sut.stop();

    sut.begin({ id: 'late' });
    await turn();
    expect(steps).toEqual([]);
    end();
    await stopped;
    await turn();

    expect(steps).toEqual(['end of early', 'release', 'release']);
  });
});
