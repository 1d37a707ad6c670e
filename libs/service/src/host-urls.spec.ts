import { joinHosts, splitHosts } from './host-urls.js';

describe(splitHosts.name, () => {
  it.each([
    ['postgres://a/db', ['postgres://a/db']],
    ['postgres://u:p%40w@a:1,b:2/db', ['postgres://u:p%40w@a:1/db', 'postgres://u:p%40w@b:2/db']],
    ['postgres://a, [::1]:5433?x=1,2', ['postgres://a?x=1,2', 'postgres://[::1]:5433?x=1,2']],
    ['postgres://u,v:p,w@a/d,b', ['postgres://u,v:p,w@a/d,b']],
    ['not a URL', ['not a URL']],
  ])('splits %s', (url, expected) => {
    expect(splitHosts(url)).toEqual(expected);
  });
});

describe(joinHosts.name, () => {
  it('joins what splitHosts has split', () => {
    const url = 'postgres://user:pw@a:5432,b:5433/db?application_name=x';

    expect(joinHosts(splitHosts(url))).toBe(url);
  });

  it('keeps the URL of a single host', () => {
    expect(joinHosts(['postgres://a/db'])).toBe('postgres://a/db');
  });
});
