import { Anchor } from '@mantine/core';
import { IconMapQuestion } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { EmptyNotice } from '../kit/empty-notice.js';

export function NotFoundPage() {
  return (
    <EmptyNotice icon={IconMapQuestion} title="There is no such page">
      The address may be incomplete.{' '}
      <Anchor component={Link} to="/events">
        Go to the events
      </Anchor>
    </EmptyNotice>
  );
}
