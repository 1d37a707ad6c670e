import { PictureLookUps } from './picture-look-ups.service.js';

describe(PictureLookUps.name, () => {
  it('makes at most one call every 2 s after a burst of 10, and answers all requests', async () => {
    let now = 0;
    const callTimes: number[] = [];
    const lookUps = new PictureLookUps(
      {
        lookUpPictures: (_kind, ids) => {
          callTimes.push(now);
          return Promise.resolve(ids.map((id) => ({ id, url: `https://pictures.example/${id}` })));
        },
      },
      { now: () => now, wait: (ms) => Promise.resolve((now += ms)) },
    );

    for (let id = 0; id < 40; id += 1)
      expect(await lookUps.addressOf('user', `u${id}`)).toBe(`https://pictures.example/u${id}`);

    const during = (seconds: number): number => callTimes.filter((time) => time < seconds * 1_000).length;
    expect([during(2), during(20), during(60)]).toEqual([10, 19, 39]);
    now += 60_000;
    await lookUps.addressOf('category', 'c1');
    expect(callTimes.at(-1)).toBe(now);
  });
});
