import { findByAnyName } from './event-type-rules.js';
import { streamSummaryRules } from './stream-summary-rules.js';

const { rules, raids, follower, chatMessage } = streamSummaryRules;

describe('streamSummaryRules', () => {
  it.each(rules)('names only keys that events of $eventType have', (rule) => {
    const { amount, tier, isGift, userId, userName, isAnonymous, only, except } = rule;
    const keys = [amount, tier, isGift, userId, userName, isAnonymous, only?.key, except?.key];

    const fields = Object.keys(findByAnyName(rule.eventType)?.fields ?? {});

    expect(fields).toEqual(expect.arrayContaining(keys.filter((key) => key !== undefined)));
  });

  it('names only keys that raids have', () => {
    const fields = Object.keys(findByAnyName('channel-raid')?.fields ?? {});

    for (const { fromName, toName, viewers } of raids)
      expect(fields).toEqual(expect.arrayContaining([fromName, toName, viewers]));
  });

  it('names types of the catalog', () => {
    const types = [follower, chatMessage, ...rules.flatMap(({ unless }) => unless ?? [])];

    expect(types.filter((type) => !findByAnyName(type))).toEqual([]);
  });
});
