import type { ReactNode } from 'react';
import classes from './status-text.module.css';

interface StatusTextProps {
  tone: 'good' | 'warning' | 'bad' | 'off';
  children: ReactNode;
}

/** The dot repeats the words: not everybody can see its color. */
export function StatusText({ tone, children }: StatusTextProps) {
  return (
    <span className={classes.status}>
      <span className={classes.dot} data-tone={tone} aria-hidden />
      {children}
    </span>
  );
}
