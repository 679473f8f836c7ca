"""Campaigns: every run of a plan, on this machine's processors or a cluster's, through Dask.

A plan is a scenario, an experiment's file, or the name of experiments such as `matrix/edges` or `confucius/all`.
Each run is a job with a key, the hash of all that its result depends on, and a store keeps results under their
keys: a campaign that was interrupted goes on where it was, and two that share a store share the work.
"""

from analects.campaign.cost import Cost, estimate
from analects.campaign.plan import Job, Plan, plan
from analects.campaign.work import Done, local, work, work_here

__all__ = ["Cost", "Done", "Job", "Plan", "estimate", "local", "plan", "work", "work_here"]
