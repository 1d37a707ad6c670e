import type { ReactNode } from 'react';
import classes from './status-text.module.css';

interface StatusTextProps {
  tone: 'good' | 'warning' | 'bad' | 'off';
  children: ReactNode;
}

/** A state in words. The dot only repeats what the words say, because not everybody sees its color. */
export function StatusText({ tone, children }: StatusTextProps) {
  return (
    <span className={classes.status}>
      <span className={classes.dot} data-tone={tone} aria-hidden />
      {children}
    </span>
  );
}
