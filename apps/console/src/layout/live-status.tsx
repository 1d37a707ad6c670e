import { useLiveState } from '../live/live.js';
import type { LiveState } from '../live/live-feed.js';
import classes from './layout.module.css';

const texts: Record<LiveState, string> = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  refused: 'Not live',
};

export function LiveStatus() {
  const state = useLiveState();
  return (
    <span className={classes.status} data-state={state} role="status">
      <span className={classes.dot} aria-hidden />
      {texts[state]}
    </span>
  );
}
