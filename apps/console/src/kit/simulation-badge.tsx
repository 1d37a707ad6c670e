import { Badge, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { platformStatusQuery } from '../api/queries.js';
import classes from './simulation-badge.module.css';

/** Whether the platform is simulated. Undefined while it is unknown. */
export function useIsSimulated(): boolean | undefined {
  const { data } = useQuery(platformStatusQuery);
  return data ? data.platform === 'simulator' : undefined;
}

/** Says that the platform is simulated, wherever a person could mistake its data for real data. */
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
