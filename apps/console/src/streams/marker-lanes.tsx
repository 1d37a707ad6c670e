import { Tooltip } from '@mantine/core';
import { IconFlame, IconStar, IconSwords, type Icon } from '@tabler/icons-react';
import { describeEvent } from '@stream-events/sentences';
import { useState, type KeyboardEvent } from 'react';
import { printUserText } from '../kit/print-user-text.js';
import { markerKinds, type Marker, type MarkerKind } from './stream-markers.js';
import { printClock, shareOf, type TimeRange } from './stream-times.js';
import classes from './stream-timeline.module.css';

const lanes: Record<MarkerKind, { title: string; icon: Icon }> = {
  raid: { title: 'Raids', icon: IconSwords },
  subscription: { title: 'Subscriptions', icon: IconStar },
  'hype train': { title: 'Hype trains', icon: IconFlame },
};

// Times are rounded to seconds, and the marked events can cause other events. Show the events up to this long before and after a mark.
const aroundMs = 10_000;
const maxSentences = 3;
const maxPartLength = 60;

interface MarkerLanesProps {
  markers: readonly Marker[];
  range: TimeRange;
  onChoose: (moment: TimeRange) => void;
}

/** Shows one lane per kind of event: raids, subscriptions, and hype trains. */
export function MarkerLanes({ markers, range, onChoose }: MarkerLanesProps) {
  return markerKinds.map((kind) => {
    const own = markers.filter((marker) => marker.kind === kind);
    return own.length > 0 && <Lane key={kind} {...lanes[kind]} {...{ markers: own, range, onChoose }} />;
  });
}

interface LaneProps extends MarkerLanesProps {
  title: string;
  icon: Icon;
}

/** The Tab key stops once per lane. Arrow keys move between its marks. */
function Lane({ title, icon: Symbol, markers, range, onChoose }: LaneProps) {
  const [current, setCurrent] = useState(0);
  const stop = Math.min(current, markers.length - 1);
  const moveByKey = (event: KeyboardEvent): void => {
    const targets: Record<string, number> = {
      ArrowRight: stop + 1,
      ArrowLeft: stop - 1,
      Home: 0,
      End: markers.length - 1,
    };
    const next = targets[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.currentTarget.querySelectorAll('button')[next]?.focus();
  };
  return (
    <div className={classes.lane} role="toolbar" aria-label={title} onKeyDown={moveByKey}>
      <span className={classes.laneIcon} title={title}>
        <Symbol size={15} aria-hidden />
      </span>
      {markers.map((marker, index) => {
        const { start, end, events } = marker;
        const label = describeMarker(marker);
        return (
          <Tooltip
            key={start}
            label={label}
            multiline
            maw={340}
            events={{ hover: true, focus: true, touch: false }}
          >
            <button
              type="button"
              className={classes.marker}
              style={{ left: `${shareOf((start + end) / 2, range) * 100}%` }}
              tabIndex={index === stop ? 0 : -1}
              aria-label={label}
              onFocus={() => setCurrent(index)}
              onClick={() => onChoose({ start: start - aroundMs, end: end + aroundMs })}
            >
              {events.length > 1 ? events.length : <Symbol size={13} aria-hidden />}
            </button>
          </Tooltip>
        );
      })}
    </div>
  );
}

/** Describes a mark by its time and first events: `20:14: Mira raided Tom with 52 viewers`. */
function describeMarker({ start, events }: Marker): string {
  const sentences = events.slice(0, maxSentences).map((event) =>
    describeEvent(event)
      .map(({ kind, text }) => (kind === 'words' ? text : printUserText(text, maxPartLength)))
      .join(''),
  );
  const rest = events.length - sentences.length;
  // A button's accessible name must contain its visible text (WCAG 2.2 §2.5.3).
  const count = events.length > 1 ? `${events.length} at ` : '';
  return `${count}${printClock(start)}: ${[...sentences, ...(rest > 0 ? [`${rest} more`] : [])].join('; ')}`;
}
