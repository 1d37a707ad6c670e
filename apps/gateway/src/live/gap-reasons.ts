/** Why a client missed events: the `reason` of a `gap`, with its text. */
export const gapReasons = {
  unknown_position: 'the position is not valid, or the stream has no event at this position',
  other_epoch: 'the stream was recreated, or lost its newest events, after you received the position',
  expired: 'the events that follow the position are no longer on the stream',
} as const;
export type GapReason = keyof typeof gapReasons;
