import type { ReactNode } from 'react';
import classes from './status-text.module.css';

interface StatusTextProps {
  tone: 'good' | 'warning' | 'bad' | 'off';
  children: ReactNode;
}

/** Shows a status in words with a colored dot. The words say everything, because not everybody can see the dot's color. */
export function StatusText({ tone, children }: StatusTextProps) {
  return (
    <span className={classes.status}>
      <span className={classes.dot} data-tone={tone} aria-hidden />
      {children}
    </span>
  );
}
