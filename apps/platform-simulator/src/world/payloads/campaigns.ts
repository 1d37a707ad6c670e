import { after, identify, type EventPayload, type PayloadBuilders, type Scene } from './scene.js';

const goalTypes = [
  'follow',
  'subscription',
  'subscription_count',
  'new_subscription',
  'new_subscription_count',
];

/** Events of hype trains, goals, and charity campaigns. */
export const campaignBuilders: PayloadBuilders = {
  'channel.hype_train.begin': (scene) => {
    const { random, now } = scene;
    const train = hypeTrain(scene);
    return {
      ...train,
      ...hypeTrainGoal(scene),
      progress: train.total,
      all_time_high_level: random.integer(3, 12),
      all_time_high_total: random.integer(9_000, 60_000),
      started_at: now.toISOString(),
    };
  },
  'channel.hype_train.progress': (scene) => ({ ...hypeTrain(scene), ...hypeTrainGoal(scene) }),
  'channel.hype_train.end': (scene) => {
    const { now } = scene;
    return {
      ...hypeTrain(scene),
      started_at: after(now, -330),
      ended_at: now.toISOString(),
      cooldown_ends_at: after(now, 3_600),
    };
  },
  'channel.goal.begin': goal,
  'channel.goal.progress': goal,
  'channel.goal.end': (scene) => {
    const { random, now } = scene;
    const reached = goal(scene);
    const isAchieved = random.chance(0.6);
    return {
      ...reached,
      ...(isAchieved && { current_amount: reached.target_amount }),
      is_achieved: isAchieved,
      ended_at: now.toISOString(),
    };
  },
  'channel.charity_campaign.donate': ({ random, userFields }) => ({
    id: random.uuid(),
    campaign_id: random.uuid(),
    ...userFields,
    ...charity,
    amount: euros(random.integer(100, 10_000)),
  }),
  'channel.charity_campaign.start': (scene) => ({ ...campaign(scene), started_at: scene.now.toISOString() }),
  'channel.charity_campaign.progress': campaign,
  'channel.charity_campaign.stop': (scene) => ({ ...campaign(scene), stopped_at: scene.now.toISOString() }),
};

function hypeTrain({
  random,
  viewer,
  otherViewer,
  channel,
  otherChannel,
  now,
  broadcasterFields,
}: Scene): EventPayload {
  const bits = random.integer(200, 900);
  const subscription = 500; // a first-tier subscription counts as 500 Bits
  const isShared = random.chance(0.1);
  const participants = [channel, otherChannel].map(({ broadcaster }) =>
    identify('broadcaster_user', broadcaster),
  );
  return {
    id: random.uuid(),
    ...broadcasterFields,
    total: bits + subscription,
    top_contributions: [
      { ...identify('user', viewer), type: 'bits', total: bits },
      { ...identify('user', otherViewer), type: 'subscription', total: subscription },
    ],
    level: 1,
    shared_train_participants: isShared ? participants : null,
    started_at: after(now, -30),
    type: random.pick(['regular', 'regular', 'regular', 'treasure', 'golden_kappa']),
    is_shared_train: isShared,
  };
}

/** Each level lasts five minutes. */
function hypeTrainGoal({ random, now }: Scene): EventPayload {
  return { progress: random.integer(200, 1_400), goal: 1_600, expires_at: after(now, 300) };
}

function goal({ random, now, broadcasterFields }: Scene): EventPayload {
  const target = random.pick([50, 100, 500, 1_000]);
  return {
    id: random.uuid(),
    ...broadcasterFields,
    type: random.pick(goalTypes),
    description: 'Together we can do it',
    current_amount: random.integer(0, target - 1),
    target_amount: target,
    started_at: after(now, -86_400),
  };
}

const charity = {
  charity_name: 'Simulated Relief',
  charity_description: 'Helps nobody, as it does not exist.',
  charity_logo: 'https://simulation.invalid/charity.png',
  charity_website: 'https://simulation.invalid/charity',
};

/** @param cents the amount in minor units */
function euros(cents: number): EventPayload {
  return { value: cents, decimal_places: 2, currency: 'EUR' };
}

/** These events name the broadcaster in fields without `user` in their names (FACTS.md §5.3). */
function campaign({ random, channel }: Scene): EventPayload {
  return {
    id: random.uuid(),
    ...identify('broadcaster', channel.broadcaster),
    ...charity,
    current_amount: euros(random.integer(0, 90_000)),
    target_amount: euros(100_000),
  };
}
