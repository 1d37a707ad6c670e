import { after, identify, type EventPayload, type PayloadBuilders, type Scene } from './scene.js';

const polls = [
  { title: 'Which game next?', choices: ['Chess', 'Minecraft', 'Surprise us'] },
  { title: 'Pineapple on pizza?', choices: ['Yes', 'No'] },
  { title: 'How long do we stay?', choices: ['One more hour', 'Until midnight', 'Until dawn'] },
];

const predictions = [
  { title: 'Do we win this round?', outcomes: ['Yes', 'No'] },
  { title: 'How many tries?', outcomes: ['One', 'Two or three', 'Too many'] },
];

/** Polls and predictions. */
export const voteBuilders: PayloadBuilders = {
  'channel.poll.begin': (scene) => ({ ...poll(scene, false), ...pollEnds(scene) }),
  'channel.poll.progress': (scene) => ({ ...poll(scene, true), ...pollEnds(scene) }),
  'channel.poll.end': (scene) => {
    const status = scene.random.pick(['completed', 'completed', 'archived', 'terminated']);
    return { ...poll(scene, true), status, ended_at: scene.now.toISOString() };
  },
  'channel.prediction.begin': (scene) => ({ ...predict(scene, false), ...predictionLocks(scene) }),
  'channel.prediction.progress': (scene) => ({ ...predict(scene, true), ...predictionLocks(scene) }),
  'channel.prediction.lock': (scene) => ({ ...predict(scene, true), locked_at: scene.now.toISOString() }),
  /** A canceled prediction has no winner. The platform sends an empty winner id for it. */
  'channel.prediction.end': (scene) => {
    const status = scene.random.pick(['resolved', 'resolved', 'canceled']);
    const prediction = predict(scene, true);
    const { outcomes } = prediction as { outcomes: { id: string }[] }; // Safe cast: predict has just created the outcomes.
    return {
      ...prediction,
      winning_outcome_id: status === 'resolved' ? scene.random.pick(outcomes).id : '',
      status,
      ended_at: scene.now.toISOString(),
    };
  },
};

/** Begin events have no counts: nobody has voted yet. */
function poll(scene: Scene, isCounted: boolean): EventPayload {
  const { random, now } = scene;
  const { title, choices } = random.pick(polls);
  const hasPointsVoting = random.chance(0.5);
  return {
    id: random.uuid(),
    ...scene.broadcasterFields,
    title,
    choices: choices.map((choice) => {
      const [points, votes] = [hasPointsVoting ? random.integer(0, 20) : 0, random.integer(0, 80)];
      const counts = { bits_votes: 0, channel_points_votes: points, votes: votes + points };
      return { id: random.uuid(), title: choice, ...(isCounted && counts) };
    }),
    bits_voting: { is_enabled: false, amount_per_vote: 0 }, // the platform has removed voting with Bits
    channel_points_voting: { is_enabled: hasPointsVoting, amount_per_vote: hasPointsVoting ? 10 : 0 },
    started_at: isCounted ? after(now, -45) : now.toISOString(),
  };
}

function pollEnds({ random, now }: Scene): EventPayload {
  return { ends_at: after(now, random.pick([60, 120, 300])) };
}

function predict(scene: Scene, isCounted: boolean): EventPayload {
  const { random, now } = scene;
  const { title, outcomes } = random.pick(predictions);
  return {
    id: random.uuid(),
    ...scene.broadcasterFields,
    title,
    outcomes: outcomes.map((outcome, index) => ({
      id: random.uuid(),
      title: outcome,
      color: outcomes.length === 2 && index === 1 ? 'pink' : 'blue', // with three or more outcomes, all are blue
      ...(isCounted && betOn(scene)),
    })),
    started_at: isCounted ? after(now, -90) : now.toISOString(),
  };
}

function betOn({ random, viewer }: Scene): EventPayload {
  const best = random.integer(100, 5_000);
  const predictor = { ...identify('user', viewer), channel_points_won: null, channel_points_used: best };
  return {
    users: random.integer(1, 40),
    channel_points: best + random.integer(0, 50_000),
    top_predictors: [predictor],
  };
}

function predictionLocks({ random, now }: Scene): EventPayload {
  return { locks_at: after(now, random.pick([60, 120, 300])) };
}
