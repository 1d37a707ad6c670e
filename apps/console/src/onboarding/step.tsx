import { Title, VisuallyHidden } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './onboarding.module.css';

interface StepProps {
  number: number;
  title: string;
  state: 'done' | 'current' | 'later';
  children: ReactNode;
}

const words = { done: 'done', current: 'to do now', later: 'later' };

export function Step({ number, title, state, children }: StepProps) {
  return (
    <li className={classes.step} data-state={state} aria-current={state === 'current' ? 'step' : undefined}>
      <span className={classes.number} aria-hidden>
        {state === 'done' ? <IconCheck size={16} /> : number}
      </span>
      <div className={classes.content}>
        <Title order={2} size="h4">
          {title} <VisuallyHidden>({words[state]})</VisuallyHidden>
        </Title>
        {children}
      </div>
    </li>
  );
}
