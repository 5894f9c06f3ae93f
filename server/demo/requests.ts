/**
 * Ready-made customer requests for the bundled shop. Together they show what the
 * product is about; each names what to look at.
 */
export type RequestShows =
  | "approval"
  | "no approval"
  | "denied by policy"
  | "discovery"
  | "fails at the provider"
  | "unknown outcome"
  | "slow effect";

export interface ReadyMadeRequest {
  readonly id: string;
  readonly title: string;
  /** What the customer writes: the run's input. */
  readonly text: string;
  readonly shows: ReadonlyArray<RequestShows>;
  /** What to expect, in one sentence, for whoever tries it. */
  readonly expect: string;
}

export const readyMadeRequests: ReadonlyArray<ReadyMadeRequest> = [
  {
    id: "refund-above-limit",
    title: "Refund above the limit",
    text: "Hi, I'm Maya Okafor (maya.okafor@example.com). The Coffee Grinder in my order #W1000001 arrived with a cracked burr. Please refund the $129.90 to the card I paid with.",
    shows: ["approval"],
    expect:
      "The refund is above 100.00 and waits in Approvals; approve it and the payment provider books it once.",
  },
  {
    id: "cancel-order",
    title: "Cancel a pending order",
    text: "This is Leo Brandt, leo.brandt@example.com. Please cancel my order #W1000002, I no longer need it.",
    shows: ["approval"],
    expect: "The cancellation waits in Approvals; deny it and the agent tells the customer why.",
  },
  {
    id: "change-shipping-address",
    title: "Ship to another address",
    text: "Ines Moreau here (ines.moreau@example.com). Could you ship order #W1000003 to 41 Linden Avenue, Apt 3, Boulder, CO 80302, USA instead? I have moved.",
    shows: ["approval"],
    expect: "The new address is in the approval, word for word.",
  },
  {
    id: "two-approvals",
    title: "Cancel and change the home address",
    text: "Hello, Chloe Nguyen, chloe.nguyen@example.com. Please cancel order #W1000011, I ordered it by mistake, and change my home address to 7 Quarry Lane, Unit 12, Santa Fe, NM 87505, USA.",
    shows: ["approval"],
    expect: "Two calls of one batch wait together; nothing runs until both are decided.",
  },
  {
    id: "small-refund",
    title: "Refund under the limit",
    text: "Victor Silva, victor.silva@example.com. The lid of the Water Bottle in order #W1000010 leaks. Please refund $24.99 and send me an e-mail to confirm it.",
    shows: ["no approval"],
    expect: "Under 100.00, so it runs at once, and an e-mail goes to the outbox.",
  },
  {
    id: "where-is-my-order",
    title: "Where is my order?",
    text: "Hi, Grace Whitman, grace.whitman@example.com. Where is my order #W1000007?",
    shows: ["no approval"],
    expect: "Only readonly tools run; nothing is prepared, nothing can be in doubt.",
  },
  {
    id: "return-with-label",
    title: "Return two items",
    text: "Felix Novak, felix.novak@example.com. I would like to return the Trail Shoes and the Umbrella of order #W1000008 and get the money back on PayPal. Please send me a return label by UPS.",
    shows: ["no approval"],
    expect: "The return is requested, a label is made and an e-mail is sent, one after the other.",
  },
  {
    id: "delete-account",
    title: "Delete my account",
    text: "Tom Lindqvist, tom.lindqvist@example.com. Please delete my account and everything you know about me.",
    shows: ["denied by policy"],
    expect:
      "The policy denies the call before it starts; the run fails and the denial is listed under Denials.",
  },
  {
    id: "sales-report",
    title: "Which products sell best?",
    text: "Internal request from the shop's manager: which products sell best, and how many orders are there of each status? A short report, please.",
    shows: ["discovery"],
    expect:
      "Reports are not exposed at first: the agent discovers them, and the exposure of its turns shows it.",
  },
  {
    id: "declined-refund",
    title: "A refund that the provider declines",
    text: "Nadia Haddad, nadia.haddad@example.com. The Linen Shirt in order #W1000005 has a hole. Please refund the $64.50.",
    shows: ["fails at the provider"],
    expect: "The provider declines; the model gets the failure as a result and says so.",
  },
  {
    id: "unanswered-refund",
    title: "A refund without an answer",
    text: "Omar Castillo, omar.castillo@example.com. My Bluetooth Speaker from order #W1000006 does not charge any more. Please refund the $89.00 to my card.",
    shows: ["unknown outcome"],
    expect:
      "The provider books the refund and drops the connection: nobody can tell, so the call is listed under Unknowns until a person settles it.",
  },
  {
    id: "slow-refund",
    title: "A refund that takes its time",
    text: "Ruth Abebe, ruth.abebe@example.com. The Headphones from order #W1000009 stopped working. Please refund the $149.00 to my card.",
    shows: ["approval", "slow effect"],
    expect:
      "After the approval the provider takes eight seconds: time to kill the process in the middle and see what is left.",
  },
];
