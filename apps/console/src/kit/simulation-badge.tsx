import { Badge, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { platformStatusQuery } from '../api/queries.js';
import classes from './simulation-badge.module.css';

/** Undefined until the answer is known. */
export function useIsSimulated(): boolean | undefined {
  const { data } = useQuery(platformStatusQuery);
  return data ? data.platform === 'simulator' : undefined;
}

/** Marks simulated data wherever users could mistake it for real data. */
export function SimulationBadge() {
  if (!useIsSimulated()) return null;
  return (
    <Tooltip
      label="All platform data comes from the built-in simulator. Nothing here is real."
      multiline
      w={220}
    >
      <Badge className={classes.simulation} size="sm" radius="sm">
        Simulation
      </Badge>
    </Tooltip>
  );
}
