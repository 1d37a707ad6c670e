import { IconMapQuestion } from '@tabler/icons-react';
import { EmptyNotice } from '../kit/empty-notice.js';
import { AnchorLink } from '../kit/links.js';

export function NotFoundPage() {
  return (
    <EmptyNotice icon={IconMapQuestion} title="There is no such page">
      The address may be incomplete. <AnchorLink to="/events">Go to the events</AnchorLink>
    </EmptyNotice>
  );
}
