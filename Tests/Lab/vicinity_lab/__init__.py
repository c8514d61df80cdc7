"""The lab: a real 802.11 stack without a radio, and scenarios that a program under test must report truly."""
